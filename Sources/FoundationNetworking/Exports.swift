// The drop-in module for `import FoundationNetworking`. It re-exports CausewayURLLoading.
//
// The types must not be declared in a module with this name: their symbols would have the same names as those of the
// toolchain's library. Code that was compiled against that library would then link, and read wrong layouts. With
// re-exported types, such code fails to link.
@_exported public import CausewayURLLoading
