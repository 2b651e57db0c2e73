//! Handles of objects, and the lists of objects that exist.
//!
//! A handle is an object's address. It is looked up in a list before it is followed, so that an invalid one is an error
//! code. The program's references are counted apart from the library's: an object that the program has released stays
//! listed while a command or another object holds it, for a program may ask for a queue's context and retain it as long
//! as the queue exists.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use opencl_sys::cl_icd::_cl_icd_dispatch;
use opencl_sys::cl_int;
use rackloom_sync::lock;

use crate::error::{Error, Result};
use crate::process::PerProcess;

/// A type of objects.
pub trait ObjectKind: Sized + Send + Sync + 'static {
    /// The error code for a handle that names no object of this type.
    const INVALID: cl_int;

    /// The list of objects that exist.
    fn live() -> &'static Live<Self>;

    /// The program has released its last reference; the library may still hold some.
    fn released(_this: &Ref<Self>) {}
}

/// The functions of the library as a loader calls them: both views of `_cl_icd_dispatch`.
#[repr(C)]
pub union FunctionTable {
    pub functions: _cl_icd_dispatch,
    pub words: [usize; SLOTS],
}

/// As many as in OpenCL 3.1; loaders of older versions look at the first of them.
pub const SLOTS: usize = 150;

const _: () = assert!(size_of::<_cl_icd_dispatch>() == SLOTS * size_of::<usize>());

// SAFETY: a table is never written once it is made.
unsafe impl Sync for FunctionTable {}

/// The loader's word for new objects; null until it sets one.
static LOADER_DATA: PerProcess<AtomicPtr<c_void>> = PerProcess::new();

/// Sets the loader's word for new objects.
pub fn set_loader_data(data: *mut c_void) {
    LOADER_DATA.get().store(data, Ordering::Release);
}

/// An object. A loader reads its first two words.
#[repr(C)]
pub struct Object<T: ObjectKind> {
    table: &'static FunctionTable,
    /// The loader's own, from version 2 of the interface on.
    loader: AtomicPtr<c_void>,
    listed: AtomicBool,
    body: T,
}

/// An object that stays while this is held.
pub type Ref<T> = Arc<Object<T>>;

impl<T: ObjectKind> Object<T> {
    /// A new object that no program can name yet. Its table is that of the object with which it is made.
    pub fn new(table: &'static FunctionTable, body: T) -> Ref<T> {
        let loader = AtomicPtr::new(LOADER_DATA.get().load(Ordering::Acquire));
        Arc::new(Self { table, loader, listed: AtomicBool::new(false), body })
    }

    /// The functions that the loader calls for it.
    pub const fn table(&self) -> &'static FunctionTable {
        self.table
    }

    /// Gives the program a handle of it, and one reference.
    pub fn list(this: &Ref<T>) -> *mut c_void {
        let handle = this.handle();
        this.listed.store(true, Ordering::Release);
        let entry = Entry { refs: 1, strong: Some(Arc::clone(this)), object: Arc::downgrade(this) };
        T::live().shard(handle.addr()).insert(handle.addr(), entry);
        handle
    }

    /// Its handle.
    pub fn handle(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// References that the program has.
    pub fn references(&self) -> u32 {
        T::live().shard(self.handle().addr()).get(&self.handle().addr()).map_or(0, |e| e.refs)
    }

    /// Sets the loader's word of an object that exists already.
    pub fn set_loader_data(&self, data: *mut c_void) {
        self.loader.store(data, Ordering::Release);
    }
}

impl<T: ObjectKind> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}

impl<T: ObjectKind> Drop for Object<T> {
    fn drop(&mut self) {
        if *self.listed.get_mut() {
            let at = self.handle().addr();
            T::live().shard(at).remove(&at);
        }
    }
}

/// The object that a handle names.
pub fn get<T: ObjectKind>(handle: *mut c_void) -> Result<Ref<T>> {
    let at = handle.addr();
    // The reference is taken under the lock: dropping the last one removes the entry before the memory is freed.
    T::live().shard(at).get(&at).and_then(|e| e.object.upgrade()).ok_or(Error(T::INVALID))
}

/// The objects that these handles name.
pub fn get_all<T: ObjectKind>(handles: &[*mut c_void]) -> Result<Vec<Ref<T>>> {
    handles.iter().map(|h| get(*h)).collect()
}

/// Adds a reference of the program.
pub fn retain<T: ObjectKind>(handle: *mut c_void) -> Result<()> {
    let object = get::<T>(handle)?;
    let mut shard = T::live().shard(handle.addr());
    let entry = shard.get_mut(&handle.addr()).ok_or(Error(T::INVALID))?;
    entry.refs += 1;
    entry.strong.get_or_insert(object);
    Ok(())
}

/// Removes a reference of the program.
pub fn release<T: ObjectKind>(handle: *mut c_void) -> Result<()> {
    let mut shard = T::live().shard(handle.addr());
    let entry = shard.get_mut(&handle.addr()).filter(|e| e.refs > 0).ok_or(Error(T::INVALID))?;
    entry.refs -= 1;
    let last = if entry.refs == 0 { entry.strong.take() } else { None };
    drop(shard); // Dropping the object locks the list again.
    if let Some(object) = last {
        T::released(&object);
    }
    Ok(())
}

/// All objects of a type that exist, by address.
pub struct Live<T: ObjectKind>([Mutex<Entries<T>>; SHARDS]);

type Entries<T> = HashMap<usize, Entry<T>, BuildHasherDefault<AddressHasher>>;

struct Entry<T: ObjectKind> {
    refs: u32,
    /// While the program has references.
    strong: Option<Ref<T>>,
    object: Weak<Object<T>>,
}

impl<T: ObjectKind> Default for Live<T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl<T: ObjectKind> Live<T> {
    /// Those to which the program has references.
    pub fn all(&self) -> Vec<Ref<T>> {
        self.0
            .iter()
            .flat_map(|shard| lock(shard).values().filter_map(|e| e.strong.clone()).collect::<Vec<_>>())
            .collect()
    }

    fn shard(&self, at: usize) -> MutexGuard<'_, Entries<T>> {
        // Neighbours in a heap are some hundred bytes apart.
        lock(&self.0[at / 128 % SHARDS])
    }
}

/// Parts of a list with locks of their own, so that threads seldom contend.
const SHARDS: usize = 16;

/// Spreads addresses, whose low bits are all the same.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_usize(usize::from(*b)));
    }

    fn write_usize(&mut self, n: usize) {
        self.0 = (self.0 ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}
