//! Where a bench runs: a manager as a process of its own, and one device seen in three ways.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::platform::{Platform, get_platforms};
use opencl3::types::cl_device_id;
use schemars::JsonSchema;
use serde::Serialize;
use tempfile::TempDir;

use crate::error::{BenchError, Result};

/// The ways to a device, in the order of all figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The vendor's runtime in the program's own process.
    Native,
    /// The manager, over memory that both share.
    SharedMemory,
    /// The manager, over TCP on the loopback interface.
    Network,
}

/// All ways.
pub const WAYS: [Way; 3] = [Way::Native, Way::SharedMemory, Way::Network];

/// The folder of the loader's files.
const VENDORS: &str = "vendors";

/// What a site is made of.
#[derive(Debug, Clone)]
pub struct SiteOptions {
    /// The command that starts a manager, without options.
    pub manager: Vec<OsString>,
    /// The OpenCL library of Rackloom; beside this program if none is named.
    pub library: Option<PathBuf>,
    /// The vendor's OpenCL library; the first that is installed if none is named.
    pub runtime: Option<PathBuf>,
}

/// A manager, and what a program needs in its environment to see its device in three ways. The manager ends with this.
///
/// A bench is another process than who starts the site: the loader reads its environment once, and a process must not
/// change its own while it has threads.
#[derive(Debug)]
pub struct Site {
    manager: Manager,
    folder: TempDir,
}

impl Site {
    /// Starts a manager.
    ///
    /// # Errors
    /// There is no library or no runtime; the manager does not start.
    pub fn start(options: &SiteOptions) -> Result<Self> {
        let library = find_library(options.library.as_deref())?;
        let runtime = options.runtime.clone().or_else(|| rackloom_manager::installed().into_iter().next());
        let runtime = runtime.ok_or_else(|| {
            BenchError::Site(
                "no OpenCL runtime is installed; install one (`make setup` installs PoCL), or name one with --runtime"
                    .into(),
            )
        })?;
        let folder = TempDir::with_prefix("rackloom-bench-").map_err(BenchError::io("cannot create a folder"))?;
        let vendors = folder.path().join(VENDORS);
        std::fs::create_dir(&vendors).map_err(BenchError::io("cannot create a folder"))?;
        for (name, path) in [("1-native.icd", &runtime), ("2-rackloom.icd", &library)] {
            let line = format!("{}\n", path.display());
            std::fs::write(vendors.join(name), line).map_err(BenchError::io("cannot write a file"))?;
        }
        let manager = Manager::start(&options.manager, &runtime, folder.path())?;
        Ok(Self { manager, folder })
    }

    /// What a bench's environment has to have.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, OsString); 2] {
        // With a separator at the end, after which loaders that have to be told by a folder put the files' names.
        let vendors = self.folder.path().join(VENDORS).join("").into_os_string();
        [("OCL_ICD_VENDORS", vendors), ("RACKLOOM_MANAGERS", self.manager.endpoints.join(",").into())]
    }
}

/// A device, in three ways.
#[derive(Debug, Clone)]
pub struct Ways {
    /// The device, by way.
    pub devices: [cl_device_id; 3],
    /// Its number among all that the loader names, by way.
    pub numbers: [usize; 3],
    /// What it calls itself.
    pub name: String,
}

impl Ways {
    /// Finds the device of this number among the runtime's, in a process with a [`Site::environment`].
    ///
    /// # Errors
    /// There is none.
    pub fn find(device: usize) -> Result<Self> {
        let (mut ours, mut theirs, mut all) = (Vec::new(), Vec::new(), 0);
        for platform in get_platforms()? {
            let of = if platform.name()? == "Rackloom" { &mut ours } else { &mut theirs };
            for device in devices_of(&platform)? {
                of.push((device, all));
                all += 1;
            }
        }
        // Some loaders add what the system has, which the manager does not.
        let names = ours.iter().map(|of| Device::new(of.0).name()).collect::<std::result::Result<Vec<_>, _>>()?;
        theirs.retain(|of| names.is_empty() || Device::new(of.0).name().is_ok_and(|name| names.contains(&name)));
        let count = theirs.len();
        if device >= count || ours.len() != 2 * count {
            return Err(BenchError::Site(format!(
                "no device number {device}: the runtime has {count}, the manager shows {} in two ways \
                 (RACKLOOM_LOG=1 says why)",
                ours.len()
            )));
        }
        let found = [theirs[device], ours[device], ours[count + device]];
        let name = Device::new(found[0].0).name()?;
        Ok(Self { devices: found.map(|f| f.0), numbers: found.map(|f| f.1), name })
    }
}

fn devices_of(platform: &Platform) -> Result<Vec<cl_device_id>> {
    match platform.get_devices(CL_DEVICE_TYPE_ALL) {
        Ok(devices) => Ok(devices),
        Err(why) if why.0 == opencl3::error_codes::CL_DEVICE_NOT_FOUND => Ok(Vec::new()),
        Err(why) => Err(why.into()),
    }
}

/// Our OpenCL library: the one that is named, else one in the folder of this program, as cargo leaves it.
pub(crate) fn find_library(named: Option<&Path>) -> Result<PathBuf> {
    let program = std::env::current_exe().map_err(BenchError::io("cannot find this program"))?;
    let folder = program.parent().unwrap_or_else(|| Path::new("."));
    let built = ["librackloom_opencl.so", "deps/librackloom_opencl.so"].map(|name| folder.join(name));
    let places: Vec<&Path> = named.map_or_else(|| built.iter().map(AsRef::as_ref).collect(), |path| vec![path]);
    // Tests leave theirs in `deps` alone: the newer one is that of this program.
    let found = places.iter().max_by_key(|path| path.metadata().and_then(|about| about.modified()).ok());
    let found = found.filter(|path| path.exists());
    found.map(|path| path.to_path_buf()).ok_or_else(|| {
        let build = "build it with `cargo build --release -p rackloom-opencl`, or name it with --library";
        BenchError::Site(format!("cannot find {}; {build}", places[0].display()))
    })
}

/// A manager's process.
#[derive(Debug)]
struct Manager {
    child: Child,
    endpoints: Vec<String>,
    /// Kept open, so that it can write.
    _says: BufReader<ChildStdout>,
}

impl Manager {
    fn start(command: &[OsString], runtime: &Path, folder: &Path) -> Result<Self> {
        let socket = format!("unix:{}", folder.join("manager.sock").display());
        let (program, arguments) = command.split_first().expect("a command has a program");
        let errors = folder.join("manager.errors");
        let file = std::fs::File::create(&errors).map_err(BenchError::io("cannot write"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .args(["--listen", &socket, "--listen", "tcp:127.0.0.1:0", "--memory", "8589934592"])
            .arg("--runtime")
            .arg(runtime)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .map_err(BenchError::io("cannot start a manager"))?;
        let mut says = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut endpoints = Vec::new();
        let mut line = String::new();
        while endpoints.len() < 2 {
            line.clear();
            let read = says.read_line(&mut line).map_err(BenchError::io("cannot read what the manager says"))?;
            if read == 0 {
                let mut why = String::new();
                let _ = std::fs::File::open(&errors).and_then(|mut file| file.read_to_string(&mut why));
                let _ = child.wait();
                return Err(BenchError::Site(format!("the manager does not start: {}", why.trim())));
            }
            endpoints.extend(line.trim().strip_prefix("listening on ").map(str::to_owned));
        }
        Ok(Self { child, endpoints, _says: says })
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
