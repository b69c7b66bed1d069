internal import CausewayProtocols

/// A framer's message on its way through the stack: the object itself, so that its values stay what they are.
struct FramerMetadata: StageMetadata {
    let message: NWProtocolFramer.Message
}
