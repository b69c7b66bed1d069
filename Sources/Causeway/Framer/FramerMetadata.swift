internal import CausewayProtocols

/// Carries a framer's message through the stack. Retains the message object, so that the program can still read its
/// values.
struct FramerMetadata: StageMetadata {
    let message: NWProtocolFramer.Message
}
