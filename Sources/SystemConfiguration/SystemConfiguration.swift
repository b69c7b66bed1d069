// The drop-in for old sources that ask whether a host can be reached. Addresses and `kCFAllocatorDefault` come with it.
@_exported public import Causeway
