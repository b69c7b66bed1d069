// Policies and outcomes are in CausewayReplay, which performs no I/O.
@_exported public import CausewayReplay
