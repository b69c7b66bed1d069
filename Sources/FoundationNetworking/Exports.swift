// The drop-in module for `import FoundationNetworking`. It re-exports CausewayURLLoading.
//
// The types must not be declared in a module with this name: their symbols would be those of the toolchain's library,
// so code that was compiled against that library would link and then read wrong layouts. With re-exported types, such
// code fails to link.
@_exported public import CausewayURLLoading
