//! The table of functions to which each object points, and the same functions by name.
#![allow(unsafe_code)]

use std::ffi::c_void;

use opencl_sys::cl_icd::_cl_icd_dispatch;

use crate::api;
use crate::handle::FunctionTable;
use crate::icd::loader;

/// "OPENCL31", of `CL/cl_icd.h`.
const MARK: usize = 0x4f50_454e_434c_3331;

/// Places of the mark, which version 2 of the interface wants instead of functions that loaders
/// never called: of `clGetPlatformIDs` and `clUnloadCompiler`.
const MARKED: [usize; 2] = [0, 31];

macro_rules! table {
    ($($name:ident => $function:expr,)*) => {
        const FUNCTIONS: _cl_icd_dispatch = _cl_icd_dispatch { $($name: $function,)* };

        /// The function of a name; null if the name is unknown or not supported.
        pub fn find(name: &[u8]) -> *mut c_void {
            match str::from_utf8(name).unwrap_or_default() {
                $(stringify!($name) => FUNCTIONS.$name.map_or(std::ptr::null_mut(), |f| f as *mut c_void),)*
                _ => std::ptr::null_mut(),
            }
        }
    };
}

/// The table.
pub static TABLE: FunctionTable = {
    let mut table = FunctionTable { functions: FUNCTIONS };
    // SAFETY: the union is as long as either, and any word is one.
    unsafe {
        table.words[MARKED[0]] = MARK;
        table.words[MARKED[1]] = MARK;
    }
    table
};

// In the order of `CL/cl_icd.h`. Functions of graphics interfaces may be missing.
table! {
    clGetPlatformIDs => Some(loader::get_ids),
    clGetPlatformInfo => Some(api::platform::get_info),
    clGetDeviceIDs => Some(api::device::clGetDeviceIDs),
    clGetDeviceInfo => Some(api::device::clGetDeviceInfo),
    clCreateContext => Some(api::context::clCreateContext),
    clCreateContextFromType => Some(api::context::clCreateContextFromType),
    clRetainContext => Some(api::context::clRetainContext),
    clReleaseContext => Some(api::context::clReleaseContext),
    clGetContextInfo => Some(api::context::clGetContextInfo),
    clCreateCommandQueue => Some(api::queue::clCreateCommandQueue),
    clRetainCommandQueue => Some(api::queue::clRetainCommandQueue),
    clReleaseCommandQueue => Some(api::queue::clReleaseCommandQueue),
    clGetCommandQueueInfo => Some(api::queue::clGetCommandQueueInfo),
    clSetCommandQueueProperty => Some(api::queue::clSetCommandQueueProperty),
    clCreateBuffer => Some(api::memory::clCreateBuffer),
    clCreateImage2D => Some(api::image::clCreateImage2D),
    clCreateImage3D => Some(api::image::clCreateImage3D),
    clRetainMemObject => Some(api::memory::clRetainMemObject),
    clReleaseMemObject => Some(api::memory::clReleaseMemObject),
    clGetSupportedImageFormats => Some(api::image::clGetSupportedImageFormats),
    clGetMemObjectInfo => Some(api::memory::clGetMemObjectInfo),
    clGetImageInfo => Some(api::image::clGetImageInfo),
    clCreateSampler => Some(api::sampler::clCreateSampler),
    clRetainSampler => Some(api::sampler::clRetainSampler),
    clReleaseSampler => Some(api::sampler::clReleaseSampler),
    clGetSamplerInfo => Some(api::sampler::clGetSamplerInfo),
    clCreateProgramWithSource => Some(api::program::clCreateProgramWithSource),
    clCreateProgramWithBinary => Some(api::program::clCreateProgramWithBinary),
    clRetainProgram => Some(api::program::clRetainProgram),
    clReleaseProgram => Some(api::program::clReleaseProgram),
    clBuildProgram => Some(api::program::clBuildProgram),
    clUnloadCompiler => Some(api::unsupported::clUnloadCompiler),
    clGetProgramInfo => Some(api::program_info::clGetProgramInfo),
    clGetProgramBuildInfo => Some(api::program_info::clGetProgramBuildInfo),
    clCreateKernel => Some(api::kernel::clCreateKernel),
    clCreateKernelsInProgram => Some(api::kernel::clCreateKernelsInProgram),
    clRetainKernel => Some(api::kernel::clRetainKernel),
    clReleaseKernel => Some(api::kernel::clReleaseKernel),
    clSetKernelArg => Some(api::kernel::clSetKernelArg),
    clGetKernelInfo => Some(api::kernel::clGetKernelInfo),
    clGetKernelWorkGroupInfo => Some(api::kernel::clGetKernelWorkGroupInfo),
    clWaitForEvents => Some(api::event::clWaitForEvents),
    clGetEventInfo => Some(api::event::clGetEventInfo),
    clRetainEvent => Some(api::event::clRetainEvent),
    clReleaseEvent => Some(api::event::clReleaseEvent),
    clGetEventProfilingInfo => Some(api::event::clGetEventProfilingInfo),
    clFlush => Some(api::queue::clFlush),
    clFinish => Some(api::queue::clFinish),
    clEnqueueReadBuffer => Some(api::transfer::clEnqueueReadBuffer),
    clEnqueueWriteBuffer => Some(api::transfer::clEnqueueWriteBuffer),
    clEnqueueCopyBuffer => Some(api::copy::clEnqueueCopyBuffer),
    clEnqueueReadImage => Some(api::image_transfer::clEnqueueReadImage),
    clEnqueueWriteImage => Some(api::image_transfer::clEnqueueWriteImage),
    clEnqueueCopyImage => Some(api::image_transfer::clEnqueueCopyImage),
    clEnqueueCopyImageToBuffer => Some(api::image_transfer::clEnqueueCopyImageToBuffer),
    clEnqueueCopyBufferToImage => Some(api::image_transfer::clEnqueueCopyBufferToImage),
    clEnqueueMapBuffer => Some(api::map::clEnqueueMapBuffer),
    clEnqueueMapImage => Some(api::map::clEnqueueMapImage),
    clEnqueueUnmapMemObject => Some(api::map::clEnqueueUnmapMemObject),
    clEnqueueNDRangeKernel => Some(api::launch::clEnqueueNDRangeKernel),
    clEnqueueTask => Some(api::launch::clEnqueueTask),
    clEnqueueNativeKernel => Some(api::unsupported::clEnqueueNativeKernel),
    clEnqueueMarker => Some(api::sync::clEnqueueMarker),
    clEnqueueWaitForEvents => Some(api::sync::clEnqueueWaitForEvents),
    clEnqueueBarrier => Some(api::sync::clEnqueueBarrier),
    clGetExtensionFunctionAddress => Some(loader::extension),
    clCreateFromGLBuffer => None,
    clCreateFromGLTexture2D => None,
    clCreateFromGLTexture3D => None,
    clCreateFromGLRenderbuffer => None,
    clGetGLObjectInfo => None,
    clGetGLTextureInfo => None,
    clEnqueueAcquireGLObjects => None,
    clEnqueueReleaseGLObjects => None,
    clGetGLContextInfoKHR => None,
    clGetDeviceIDsFromD3D10KHR => None,
    clCreateFromD3D10BufferKHR => None,
    clCreateFromD3D10Texture2DKHR => None,
    clCreateFromD3D10Texture3DKHR => None,
    clEnqueueAcquireD3D10ObjectsKHR => None,
    clEnqueueReleaseD3D10ObjectsKHR => None,
    clSetEventCallback => Some(api::event::clSetEventCallback),
    clCreateSubBuffer => Some(api::memory::clCreateSubBuffer),
    clSetMemObjectDestructorCallback => Some(api::memory::clSetMemObjectDestructorCallback),
    clCreateUserEvent => Some(api::event::clCreateUserEvent),
    clSetUserEventStatus => Some(api::event::clSetUserEventStatus),
    clEnqueueReadBufferRect => Some(api::transfer::clEnqueueReadBufferRect),
    clEnqueueWriteBufferRect => Some(api::transfer::clEnqueueWriteBufferRect),
    clEnqueueCopyBufferRect => Some(api::copy::clEnqueueCopyBufferRect),
    clCreateSubDevicesEXT => None,
    clRetainDeviceEXT => None,
    clReleaseDeviceEXT => None,
    clCreateEventFromGLsyncKHR => None,
    clCreateSubDevices => Some(api::device::clCreateSubDevices),
    clRetainDevice => Some(api::device::clRetainDevice),
    clReleaseDevice => Some(api::device::clReleaseDevice),
    clCreateImage => Some(api::image::clCreateImage),
    clCreateProgramWithBuiltInKernels => Some(api::unsupported::clCreateProgramWithBuiltInKernels),
    clCompileProgram => Some(api::program::clCompileProgram),
    clLinkProgram => Some(api::program::clLinkProgram),
    clUnloadPlatformCompiler => Some(api::platform::clUnloadPlatformCompiler),
    clGetKernelArgInfo => Some(api::kernel::clGetKernelArgInfo),
    clEnqueueFillBuffer => Some(api::copy::clEnqueueFillBuffer),
    clEnqueueFillImage => Some(api::image_transfer::clEnqueueFillImage),
    clEnqueueMigrateMemObjects => Some(api::copy::clEnqueueMigrateMemObjects),
    clEnqueueMarkerWithWaitList => Some(api::sync::clEnqueueMarkerWithWaitList),
    clEnqueueBarrierWithWaitList => Some(api::sync::clEnqueueBarrierWithWaitList),
    clGetExtensionFunctionAddressForPlatform => Some(loader::clGetExtensionFunctionAddressForPlatform),
    clCreateFromGLTexture => None,
    clGetDeviceIDsFromD3D11KHR => None,
    clCreateFromD3D11BufferKHR => None,
    clCreateFromD3D11Texture2DKHR => None,
    clCreateFromD3D11Texture3DKHR => None,
    clCreateFromDX9MediaSurfaceKHR => None,
    clEnqueueAcquireD3D11ObjectsKHR => None,
    clEnqueueReleaseD3D11ObjectsKHR => None,
    clGetDeviceIDsFromDX9MediaAdapterKHR => None,
    clEnqueueAcquireDX9MediaSurfacesKHR => None,
    clEnqueueReleaseDX9MediaSurfacesKHR => None,
    clCreateFromEGLImageKHR => None,
    clEnqueueAcquireEGLObjectsKHR => None,
    clEnqueueReleaseEGLObjectsKHR => None,
    clCreateEventFromEGLSyncKHR => None,
    clCreateCommandQueueWithProperties => Some(api::queue::clCreateCommandQueueWithProperties),
    clCreatePipe => Some(api::unsupported::clCreatePipe),
    clGetPipeInfo => Some(api::unsupported::clGetPipeInfo),
    clSVMAlloc => Some(api::svm::clSVMAlloc),
    clSVMFree => Some(api::svm::clSVMFree),
    clEnqueueSVMFree => Some(api::svm::clEnqueueSVMFree),
    clEnqueueSVMMemcpy => Some(api::svm::clEnqueueSVMMemcpy),
    clEnqueueSVMMemFill => Some(api::svm::clEnqueueSVMMemFill),
    clEnqueueSVMMap => Some(api::svm::clEnqueueSVMMap),
    clEnqueueSVMUnmap => Some(api::svm::clEnqueueSVMUnmap),
    clCreateSamplerWithProperties => Some(api::sampler::clCreateSamplerWithProperties),
    clSetKernelArgSVMPointer => Some(api::svm_kernel::clSetKernelArgSVMPointer),
    clSetKernelExecInfo => Some(api::svm_kernel::clSetKernelExecInfo),
    clGetKernelSubGroupInfoKHR => Some(api::kernel::clGetKernelSubGroupInfo),
    clCloneKernel => Some(api::kernel::clCloneKernel),
    clCreateProgramWithIL => Some(api::unsupported::clCreateProgramWithIL),
    clEnqueueSVMMigrateMem => Some(api::svm::clEnqueueSVMMigrateMem),
    clGetDeviceAndHostTimer => Some(api::device::clGetDeviceAndHostTimer),
    clGetHostTimer => Some(api::device::clGetHostTimer),
    clGetKernelSubGroupInfo => Some(api::kernel::clGetKernelSubGroupInfo),
    clSetDefaultDeviceCommandQueue => Some(api::device::clSetDefaultDeviceCommandQueue),
    clSetProgramReleaseCallback => Some(api::program_info::clSetProgramReleaseCallback),
    clSetProgramSpecializationConstant => Some(api::program_info::clSetProgramSpecializationConstant),
    clCreateBufferWithProperties => Some(api::memory::clCreateBufferWithProperties),
    clCreateImageWithProperties => Some(api::image::clCreateImageWithProperties),
    clSetContextDestructorCallback => Some(api::context::clSetContextDestructorCallback),
    clGetKernelSuggestedLocalWorkSize => Some(api::unsupported::clGetKernelSuggestedLocalWorkSize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::SLOTS;

    #[test]
    fn only_functions_of_graphics_interfaces_are_missing_and_two_are_marks() {
        // SAFETY: any word is one.
        let words = unsafe { TABLE.words };
        let marks: Vec<usize> = (0..SLOTS).filter(|at| words[*at] == MARK).collect();
        assert_eq!(marks, MARKED);
        assert_eq!(words.iter().filter(|w| **w == 0).count(), 34);
        // Places as the headers of the loaders have them.
        let places = [(1, "clGetPlatformInfo"), (65, "clGetExtensionFunctionAddress"), (81, "clSetEventCallback")];
        let later = [(123, "clCreateCommandQueueWithProperties"), (148, "clSetContextDestructorCallback")];
        for (at, name) in places.into_iter().chain(later) {
            assert_eq!(find(name.as_bytes()).addr(), words[at], "{name}");
        }
        assert!(find(b"clCreateFromGLBuffer").is_null() && find(b"clNothing").is_null());
    }
}
