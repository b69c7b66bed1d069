// An actor system needs a session, and names peers by their identities: types of CausewayPeers.
@_exported public import CausewayPeers
