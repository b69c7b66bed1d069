// Bitmaps, processors and slots are in another module, which performs no I/O.
@_exported public import CausewayImageFormats
// A loader fetches with a `URLSession`, which is a type of CausewayURLLoading.
@_exported public import CausewayURLLoading
