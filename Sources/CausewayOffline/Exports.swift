// An engine sends the requests of CausewayClient with a client. That module also exports the types of URL loading.
@_exported public import CausewayClient
// The types for policies and outcomes are in CausewayHTTPProtocols, which performs no I/O and has no other public
// names.
@_exported public import CausewayHTTPProtocols
