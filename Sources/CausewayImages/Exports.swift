// Export the module with the bitmaps, processors and slots. It is separate because it performs no I/O.
@_exported public import CausewayImageFormats
// A loader fetches with a `URLSession`, which is a type of CausewayURLLoading.
@_exported public import CausewayURLLoading
