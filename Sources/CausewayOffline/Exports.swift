// Policies and outcomes are in CausewayHTTPProtocols, which performs no I/O and has no other public names.
@_exported public import CausewayHTTPProtocols
