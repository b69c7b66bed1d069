internal import CausewayProtocols

/// Carries a framer's message through the stack. It holds a reference to the program's object, so that the values in it stay available.
struct FramerMetadata: StageMetadata {
    let message: NWProtocolFramer.Message
}
