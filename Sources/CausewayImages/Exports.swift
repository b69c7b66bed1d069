// Bitmaps, processors and slots are in another module, which performs no I/O.
@_exported public import CausewayImageFormats
