// The rules and outcomes of operations are in another module, which performs no I/O.
@_exported public import CausewayReplay
