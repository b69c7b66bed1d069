internal import CausewayProtocols
internal import CausewayRuntime

/// The way from an delegate to its stage: a ``StagePlace`` of a connection, or a stack without one in tests.
protocol StageAccess: Sendable {
    /// Acts on the stage. `body` runs under the stack's lock. `nil` once the attempt is over.
    @discardableResult
    func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, _ body: @Sendable (inout Stage) -> Result
    ) -> Result?

    /// Puts another protocol above the stage. Returns whether it was not too late.
    func insert(_ layer: StackLayer) -> Bool

    /// Calls `body` on the connection's queue, after what is queued there.
    func onQueue(_ body: @escaping @Sendable () -> Void)
}

extension StagePlace: StageAccess {
    func insert(_ layer: StackLayer) -> Bool { insertAbove(layer) != nil }
}

/// A delegate that reports facts about the whole connection.
protocol MetadataSource: AnyObject, Sendable {
    /// What was agreed on; `nil` for nothing, or not yet.
    var connectionMetadata: NWProtocolMetadata? { get }

    /// The protocol's metadata for a message that went on to a protocol above it.
    ///
    /// - Parameter messages: The metadata of the message, the uppermost protocol first.
    func metadata(among messages: [any StageMetadata]) -> NWProtocolMetadata?
}

extension MetadataSource {
    func metadata(among messages: [any StageMetadata]) -> NWProtocolMetadata? { connectionMetadata }
}

/// A delegate of a protocol that shakes hands.
protocol HandshakeSource {
    /// Which protocol; `nil` if it had nothing to say.
    var handshakeDefinition: NWProtocolDefinition? { get }
}

extension TLSDelegate: HandshakeSource {
    var handshakeDefinition: NWProtocolDefinition? { NWProtocolTLS.definition }
}

/// A delegate that needs no more of a connection than ``StageAccess``.
protocol ProgramDelegate: StageDelegate, MetadataSource {
    func handle(_ event: any StageEvent, at place: any StageAccess)
}

extension ProgramDelegate {
    func stageReported(_ event: any StageEvent, from place: StagePlace) { handle(event, at: place) }

    var connectionMetadata: NWProtocolMetadata? { nil }
}
