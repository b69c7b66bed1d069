internal import CausewayProtocols
internal import CausewayRuntime

/// Gives a delegate access to its stage: one protocol's state machine in the protocol stack. ``StagePlace`` implements
/// this protocol for connections. Tests use another implementation for a stack without a connection.
protocol StageAccess: Sendable {
    /// Calls `body` with the stage, under the stack's lock. Returns `nil` if the connection attempt has ended.
    @discardableResult
    func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, _ body: @Sendable (inout Stage) -> Result
    ) -> Result?

    /// Calls `body` with the stage. The argument `isAnswer` must be `true` if `body` passes the program's answer to the
    /// stage. The time limit for the stack's handshakes then starts again.
    @discardableResult
    func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, isAnswer: Bool, _ body: @Sendable (inout Stage) -> Result
    ) -> Result?

    /// Inserts another protocol above the stage. Returns `false` if the stage is already ready or the connection attempt has ended.
    func insert(_ layer: StackLayer) -> Bool

    /// Calls `body` on the connection's queue. Blocks that are already queued run first.
    func onQueue(_ body: @escaping @Sendable () -> Void)
}

extension StageAccess {
    @discardableResult
    func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, isAnswer: Bool, _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        withStage(as: type, body)
    }
}

extension StagePlace: StageAccess {
    func insert(_ layer: StackLayer) -> Bool { insertAbove(layer) != nil }
}

/// Supplies metadata for the whole connection and for its messages.
protocol MetadataSource: AnyObject, Sendable {
    /// The connection's negotiated parameters; `nil` if there are none yet.
    var connectionMetadata: NWProtocolMetadata? { get }

    /// Returns this protocol's metadata for a received message; `nil` if there is none.
    ///
    /// - Parameter messages: The metadata objects that the protocols of the stack attached to the message, topmost
    ///   protocol first.
    func metadata(among messages: [any StageMetadata]) -> NWProtocolMetadata?
}

extension MetadataSource {
    func metadata(among messages: [any StageMetadata]) -> NWProtocolMetadata? { connectionMetadata }
}

/// A delegate for a protocol with a handshake.
protocol HandshakeSource {
    /// The definition of the protocol. The report about the connection's handshakes contains it. `nil` if the protocol
    /// needed no handshake. For example, a framer can be ready immediately.
    var handshakeDefinition: NWProtocolDefinition? { get }
}

extension TLSDelegate: HandshakeSource {
    var handshakeDefinition: NWProtocolDefinition? { NWProtocolTLS.definition }
}

/// A delegate for a protocol stage that reaches its connection only through ``StageAccess``.
protocol ProgramDelegate: StageDelegate, MetadataSource {
    func handle(_ event: any StageEvent, at place: any StageAccess)
}

extension ProgramDelegate {
    func stageReported(_ event: any StageEvent, from place: StagePlace) { handle(event, at: place) }

    var connectionMetadata: NWProtocolMetadata? { nil }
}
