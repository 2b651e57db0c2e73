//! The built library, opened as a loader opens it, and a manager on PoCL in a process of its own.
#![allow(dead_code, unsafe_code, reason = "each test program uses a part; calling C is what is tested")]
#![allow(unused_macros, reason = "as above")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

use std::ffi::{CString, c_void};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use opencl_sys::cl_icd::_cl_icd_dispatch;
use opencl_sys::*;

/// A manager in its own process; killed when dropped.
pub struct Manager {
    child: Child,
    /// The endpoints asked for, with their ports.
    pub endpoints: Vec<String>,
    /// The address of its metrics, if they were asked for.
    pub metrics: Option<String>,
}

const LISTEN: &str = "RACKLOOM_TEST_LISTEN";

impl Manager {
    /// Starts one that listens on these endpoints, with more options, and waits until it does.
    pub fn start(listen: &[&str], options: &[&str]) -> Self {
        let mut words: Vec<&str> = listen.iter().flat_map(|endpoint| ["--listen", *endpoint]).collect();
        words.extend(options);
        let this_program = std::env::current_exe().unwrap();
        let mut command = Command::new(this_program);
        command.args(["--exact", "a_manager_process", "--nocapture"]).env(LISTEN, words.join(" "));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (mut endpoints, mut metrics) = (Vec::new(), None);
        for line in lines.by_ref() {
            metrics = metrics.or_else(|| line.strip_prefix("metrics at ").map(str::to_owned));
            if let Some((_, endpoint)) = line.split_once("listening on ") {
                endpoints.push(endpoint.to_owned());
            }
            if line.contains("board 0") {
                break;
            }
        }
        assert_eq!(endpoints.len(), listen.len(), "the manager does not start");
        // Whatever else it prints must not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, endpoints, metrics }
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The body of the test `a_manager_process`: a manager if [`Manager::start`] has started this program, else nothing.
pub fn be_a_manager() {
    // This program cannot be a worker.
    be_a_manager_that_isolates("none");
}

/// The same for a program that has called `work_if_asked`: its clients have processes of their own.
pub fn be_an_isolating_manager() {
    be_a_manager_that_isolates("all");
}

fn be_a_manager_that_isolates(isolated: &str) {
    #[derive(clap::Parser)]
    struct Arguments {
        #[command(flatten)]
        options: rackloom_manager::Options,
    }
    let Ok(words) = std::env::var(LISTEN) else { return };
    let library = rackloom_manager::native::installed().into_iter().find(|l| l.to_string_lossy().contains("pocl"));
    let library = library.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
    let fixed = ["manager", "--isolate", isolated, "--runtime", library.to_str().expect("it is plain")];
    let words = fixed.into_iter().chain(words.split(' '));
    let arguments: Arguments = clap::Parser::parse_from(words);
    // The end of our input is the end of the test.
    std::thread::spawn(|| {
        let _ = std::io::read_to_string(std::io::stdin());
        std::process::exit(0);
    });
    let service = arguments.options.start().unwrap();
    service.endpoints().for_each(|endpoint| println!("listening on {endpoint}"));
    service.metrics().iter().for_each(|address| println!("metrics at {address}"));
    service.boards().iter().enumerate().for_each(|(number, board)| println!("board {number}: {board}"));
    loop {
        std::thread::park();
    }
}

/// The library's table and platform.
#[derive(Clone, Copy)]
pub struct Cl {
    pub table: &'static _cl_icd_dispatch,
    pub platform: cl_platform_id,
}

unsafe impl Send for Cl {}
unsafe impl Sync for Cl {}

/// Calls a function of the table.
macro_rules! cl {
    ($cl:expr, $name:ident($($argument:expr),* $(,)?)) => {
        unsafe { ($cl.table.$name.expect(stringify!($name)))($($argument),*) }
    };
}

/// Calls a function that has to succeed.
macro_rules! ok {
    ($cl:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(cl!($cl, $name($($argument),*)), 0, stringify!($name))
    };
}

/// Calls a function that makes an object.
macro_rules! make {
    ($cl:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let mut code = 1;
        let made = cl!($cl, $name($($argument,)* &raw mut code));
        assert_eq!((code, made.is_null()), (0, false), stringify!($name));
        made
    }};
}

/// Calls a function that must not make an object; its code.
macro_rules! refused {
    ($cl:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let mut code = 1;
        assert!(cl!($cl, $name($($argument,)* &raw mut code)).is_null(), stringify!($name));
        code
    }};
}

/// Opens the library for these managers; once in a process.
pub fn open(managers: &[String]) -> Cl {
    unsafe { std::env::set_var("RACKLOOM_MANAGERS", managers.join(",")) };
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let places = [deps.join("librackloom_opencl.so"), deps.join("../librackloom_opencl.so")];
    let path = places.iter().find(|p| p.exists()).expect("the library is built beside its tests");
    let library = Box::leak(Box::new(unsafe { libloading::Library::new(path) }.unwrap()));
    type GetPlatforms = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
    let get: libloading::Symbol<'_, GetPlatforms> = unsafe { library.get(b"clIcdGetPlatformIDsKHR") }.unwrap();
    let (mut platform, mut count) = (null_mut(), 0);
    assert_eq!(unsafe { get(1, &raw mut platform, &raw mut count) }, CL_SUCCESS);
    assert_eq!(count, 1);
    let table = unsafe { &**platform.cast::<*const _cl_icd_dispatch>() };
    Cl { table, platform }
}

/// A manager over all transports and the library with it, for all tests of a program.
pub fn shared() -> Cl {
    static SHARED: OnceLock<(Manager, tempfile::TempDir, Cl)> = OnceLock::new();
    SHARED
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let socket = format!("unix:{}", folder.path().join("m.sock").display());
            let key = folder.path().join("key.pem");
            let options = ["--tls-self-signed", key.to_str().expect("it is plain")];
            let manager = Manager::start(&[&socket, "tcp:127.0.0.1:0", "tls:127.0.0.1:0"], &options);
            let cl = open(&manager.endpoints);
            (manager, folder, cl)
        })
        .2
}

impl Cl {
    pub fn devices(&self) -> Vec<cl_device_id> {
        let mut devices = vec![null_mut(); 16];
        let mut count = 0;
        let to = devices.as_mut_ptr();
        match cl!(self, clGetDeviceIDs(self.platform, CL_DEVICE_TYPE_ALL, 16, to, &raw mut count)) {
            CL_DEVICE_NOT_FOUND => return Vec::new(),
            code => assert_eq!(code, 0),
        }
        devices.truncate(count as usize);
        devices
    }
}

/// A context with a queue for each device.
pub struct Bench {
    pub cl: Cl,
    pub devices: Vec<cl_device_id>,
    pub context: cl_context,
    pub queues: Vec<cl_command_queue>,
}

// Handles may be used by any thread.
unsafe impl Send for Bench {}
unsafe impl Sync for Bench {}

impl Bench {
    /// One for each of the shared devices: the same board through shared memory, over TCP, and within TLS.
    pub fn each(properties: u64) -> Vec<Self> {
        let cl = shared();
        let devices = cl.devices();
        assert_eq!(devices.len(), 3);
        devices.iter().map(|device| Self::of(cl, &[*device], properties)).collect()
    }

    pub fn of(cl: Cl, devices: &[cl_device_id], properties: u64) -> Self {
        let context = make!(cl, clCreateContext(null(), devices.len() as u32, devices.as_ptr(), None, null_mut()));
        let queues = devices.iter().map(|d| make!(cl, clCreateCommandQueue(context, *d, properties))).collect();
        Self { cl, devices: devices.to_vec(), context, queues }
    }

    pub fn queue(&self) -> cl_command_queue {
        self.queues[0]
    }

    pub fn buffer(&self, flags: u64, size: usize) -> cl_mem {
        make!(self.cl, clCreateBuffer(self.context, flags, size, null_mut()))
    }

    pub fn filled(&self, bytes: &[u8]) -> cl_mem {
        let from = bytes.as_ptr().cast_mut().cast();
        make!(self.cl, clCreateBuffer(self.context, CL_MEM_COPY_HOST_PTR, bytes.len(), from))
    }

    pub fn program(&self, source: &str) -> cl_program {
        let source = CString::new(source).unwrap();
        let mut text = source.as_ptr();
        make!(self.cl, clCreateProgramWithSource(self.context, 1, &raw mut text, null()))
    }

    pub fn built(&self, source: &str) -> cl_program {
        let program = self.program(source);
        ok!(self.cl, clBuildProgram(program, 0, null(), null(), None, null_mut()));
        program
    }

    pub fn kernel(&self, source: &str, name: &str) -> cl_kernel {
        let program = self.built(source);
        let name = CString::new(name).unwrap();
        let kernel = make!(self.cl, clCreateKernel(program, name.as_ptr()));
        ok!(self.cl, clReleaseProgram(program));
        kernel
    }

    pub fn set<T>(&self, kernel: cl_kernel, index: u32, value: &T) {
        ok!(self.cl, clSetKernelArg(kernel, index, size_of::<T>(), (&raw const *value).cast()));
    }

    pub fn launch(&self, queue: cl_command_queue, kernel: cl_kernel, items: usize, waits: &[cl_event]) -> cl_event {
        let mut event = null_mut();
        let (count, list) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
        let (to, items) = (&raw mut event, &raw const items);
        ok!(self.cl, clEnqueueNDRangeKernel(queue, kernel, 1, null(), items, null(), count, list, to));
        event
    }

    pub fn write(&self, queue: cl_command_queue, buffer: cl_mem, bytes: &[u8]) {
        let from = bytes.as_ptr().cast();
        ok!(self.cl, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes.len(), from, 0, null(), null_mut()));
    }

    pub fn read(&self, queue: cl_command_queue, buffer: cl_mem, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let to = bytes.as_mut_ptr().cast();
        ok!(self.cl, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, len, to, 0, null(), null_mut()));
        bytes
    }

    pub fn event_info<T: Default>(&self, event: cl_event, name: u32) -> T {
        let mut value = T::default();
        ok!(self.cl, clGetEventInfo(event, name, size_of::<T>(), (&raw mut value).cast(), null_mut()));
        value
    }

    pub fn status(&self, event: cl_event) -> i32 {
        self.event_info(event, CL_EVENT_COMMAND_EXECUTION_STATUS)
    }

    pub fn user_event(&self) -> cl_event {
        make!(self.cl, clCreateUserEvent(self.context))
    }

    pub fn mem_info<T: Default>(&self, mem: cl_mem, name: u32) -> T {
        let mut value = T::default();
        ok!(self.cl, clGetMemObjectInfo(mem, name, size_of::<T>(), (&raw mut value).cast(), null_mut()));
        value
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for queue in &self.queues {
            ok!(self.cl, clReleaseCommandQueue(*queue));
        }
        ok!(self.cl, clReleaseContext(self.context));
    }
}

/// Bytes that are nowhere the same for long.
pub fn pattern(len: usize, seed: u32) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as u8).collect()
}

/// Reads a value of an info function into bytes.
pub fn info(get: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<Vec<u8>, cl_int> {
    let mut size = 0;
    match get(0, null_mut(), &raw mut size) {
        0 => {}
        code => return Err(code),
    }
    let mut bytes = vec![0xAA; size];
    let mut again = 0;
    assert_eq!(get(size, bytes.as_mut_ptr().cast(), &raw mut again), 0);
    assert_eq!(again, size);
    if size > 0 {
        assert_eq!(get(size - 1, bytes.as_mut_ptr().cast(), null_mut()), CL_INVALID_VALUE, "too small a place");
    }
    Ok(bytes)
}

/// A kernel that adds a number to each of many.
pub const ADD: &str = "kernel void add(global int *v, int n) { v[get_global_id(0)] += n; }";

/// A kernel that adds one to each byte.
pub const NEXT: &str = "kernel void next(global uchar *v) { v[get_global_id(0)] += 1; }";

/// Takes a tenth of a second or so, for so many steps.
pub const SLOW: &str = "kernel void slow(global uint *v, uint n) {
    uint x = v[0];
    for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
    v[0] = x;
}";
pub const STEPS: u32 = 60_000_000;
