internal import CausewayProtocols

/// Carries a framer's message through the stack. The metadata holds a reference to the program's object, so that the values in the object
/// stay available.
struct FramerMetadata: StageMetadata {
    let message: NWProtocolFramer.Message
}
