internal import CausewayProtocols

/// Carries a framer's message through the stack. Retains the message object, so that the values of the message are
/// still available at the other end of the stack.
struct FramerMetadata: StageMetadata {
    let message: NWProtocolFramer.Message
}
