//! Where a bench runs: a manager as a process of its own, and one device seen in three ways.
#![allow(unsafe_code)]

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

/// What a site is made of.
#[derive(Debug, Clone)]
pub struct SiteOptions {
    /// The command that starts a manager, without options.
    pub manager: Vec<OsString>,
    /// The OpenCL library of Rackloom; beside this program if none is named.
    pub library: Option<PathBuf>,
    /// The vendor's OpenCL library; the first that is installed if none is named.
    pub runtime: Option<PathBuf>,
    /// The number of the device among that runtime's.
    pub device: usize,
}

/// A manager, and its device in three ways. The manager ends with this.
#[derive(Debug)]
pub struct Site {
    manager: Manager,
    folder: TempDir,
    /// The device, by way.
    pub devices: [cl_device_id; 3],
    /// Its number among all that the loader names, by way.
    pub numbers: [usize; 3],
    /// What it calls itself.
    pub name: String,
}

impl Site {
    /// Starts a manager and finds its device.
    ///
    /// # Errors
    /// There is no library, no runtime, or no device; the manager does not start.
    ///
    /// # Safety
    /// It changes the environment: no other thread may use that meanwhile, and OpenCL may not have been called before.
    pub unsafe fn open(options: &SiteOptions) -> Result<Self> {
        let library = match &options.library {
            Some(path) => path.clone(),
            None => beside_us()?,
        };
        let runtime = options.runtime.clone().or_else(|| rackloom_manager::installed().into_iter().next());
        let runtime = runtime.ok_or_else(|| {
            BenchError::Site("no OpenCL runtime is installed; install one (`make setup` takes PoCL), or name it".into())
        })?;
        let folder = TempDir::with_prefix("rackloom-bench-").map_err(BenchError::io("cannot make a folder"))?;
        let vendors = folder.path().join("vendors");
        let write = |name: &str, path: &Path| {
            std::fs::write(vendors.join(name), format!("{}\n", path.display())).map_err(BenchError::io("cannot write"))
        };
        std::fs::create_dir(&vendors).map_err(BenchError::io("cannot make a folder"))?;
        write("1-native.icd", &runtime)?;
        write("2-rackloom.icd", &library)?;
        let manager = Manager::start(&options.manager, &runtime, folder.path())?;
        // SAFETY: the caller's to see to.
        unsafe {
            std::env::set_var("OCL_ICD_VENDORS", &vendors);
            std::env::set_var("RACKLOOM_MANAGERS", manager.endpoints.join(","));
        }
        let mut site =
            Self { manager, folder, devices: [std::ptr::null_mut(); 3], numbers: [0; 3], name: String::new() };
        site.find(options.device)?;
        Ok(site)
    }

    fn find(&mut self, device: usize) -> Result<()> {
        let (mut all, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for platform in get_platforms()? {
            let of = if platform.name()? == "Rackloom" { &mut ours } else { &mut theirs };
            let devices = devices_of(&platform)?;
            of.extend(devices.iter().map(|device| (*device, all.len())).enumerate().map(|(i, (d, n))| (d, n + i)));
            all.extend(devices);
        }
        let count = theirs.len();
        if device >= count || ours.len() != 2 * count {
            let (remote, of) = (ours.len(), self.manager.endpoints.len());
            return Err(BenchError::Site(format!(
                "there is no device number {device}: the runtime has {count}, the manager shows {remote} over {of} ways"
            )));
        }
        let found = [theirs[device], ours[device], ours[count + device]];
        (self.devices, self.numbers) = (found.map(|f| f.0), found.map(|f| f.1));
        self.name = Device::new(found[0].0).name()?;
        Ok(())
    }

    /// A folder that goes with the site.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The manager's process.
    #[must_use]
    pub fn manager(&self) -> u32 {
        self.manager.child.id()
    }
}

fn devices_of(platform: &Platform) -> Result<Vec<cl_device_id>> {
    match platform.get_devices(CL_DEVICE_TYPE_ALL) {
        Ok(devices) => Ok(devices),
        Err(why) if why.0 == opencl3::error_codes::CL_DEVICE_NOT_FOUND => Ok(Vec::new()),
        Err(why) => Err(why.into()),
    }
}

/// Our OpenCL library in the folder of this program, as cargo leaves it.
fn beside_us() -> Result<PathBuf> {
    let program = std::env::current_exe().map_err(BenchError::io("cannot find this program"))?;
    let folder = program.parent().unwrap_or(Path::new("."));
    let places = ["librackloom_opencl.so", "deps/librackloom_opencl.so"].map(|name| folder.join(name));
    places.iter().find(|path| path.exists()).cloned().ok_or_else(|| {
        let build = "build it with `cargo build --release -p rackloom-opencl`, or name it";
        BenchError::Site(format!("there is no {}; {build}", places[0].display()))
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
