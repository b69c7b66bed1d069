internal import CausewayProtocols

/// Carries a framer's message through the stack. It retains the program's object, so that its values stay available.
struct FramerMetadata: StageMetadata {
    let message: NWProtocolFramer.Message
}
