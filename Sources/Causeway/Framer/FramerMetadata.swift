internal import CausewayProtocols

/// Carries a framer's message through the protocol stack. It retains the message object, so that the other end of the
/// stack can read the message's values.
struct FramerMetadata: StageMetadata {
    let message: NWProtocolFramer.Message
}
