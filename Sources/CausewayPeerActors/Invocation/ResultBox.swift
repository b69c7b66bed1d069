internal import CausewayPeerProtocols
internal import Distributed
internal import CausewaySystem

/// Stores the result of a called function as an ``ActorReply``.
final class ResultBox: Sendable {
    private let system: PeerActorSystem
    private let reply = LockedValue<ActorReply?>(nil)

    init(_ system: PeerActorSystem) {
        self.system = system
    }

    /// The reply; `nil` if there is none yet.
    var value: ActorReply? { reply.withLock { $0 } }

    func set(_ reply: ActorReply) { self.reply.withLock { $0 = reply } }

    func returned(_ value: some Codable) {
        do {
            let bytes = try ActorCoder(system: system).encode(value)
            // The frame with the result needs 64 bytes for its other fields.
            let limit = system.limits.frameByteCount - 64
            guard bytes.count <= limit else {
                let text = "the result has \(bytes.count) bytes; at most \(limit) are sent"
                return set(.refused(.tooLarge, "\(text): see Options.messageByteLimit"))
            }
            set(.value(bytes))
        } catch {
            set(.refused(.invalidResult, "cannot encode the result: \(error)"))
        }
    }

    func threw(_ error: any Error) {
        switch error {
        case let error as PeerInvocationDecoder.InvalidArgument: set(.refused(.invalidArguments, error.message))
        case let error as ExecuteDistributedTargetError: set(.refused(.unknownTarget, error.message))
        case is CancellationError: set(.refused(.cancelled, "the function was cancelled"))
        case let error as any Error & Codable: set(Self.reply(error, system))
        default: set(.described(String(describing: error)))
        }
    }

    private static func reply(_ error: some Error & Codable, _ system: PeerActorSystem) -> ActorReply {
        let text = String(describing: error)
        guard let payload = try? ActorCoder(system: system).encode(error),
            payload.count <= system.limits.frameByteCount - 4_096
        else { return .described(text) }
        return .thrown(
            ActorThrownError(type: ErrorTypes.name(of: type(of: error)), description: text, payload: payload))
    }
}

/// The error types that a caller can throw again with their original type, after the peer has thrown them.
struct ErrorTypes: Sendable {
    private let types: [String: any (Error & Codable).Type]

    init(_ types: [any (Error & Codable).Type]) {
        self.types = Dictionary(types.map { (Self.name(of: $0), $0) }) { first, _ in first }
    }

    static func name(of type: any Any.Type) -> String { String(reflecting: type) }

    /// Decodes an error that the peer has sent.
    ///
    /// Decodes only types in the program's list. Otherwise a name from a peer could select an arbitrary type in the
    /// program.
    func error(_ thrown: ActorThrownError, _ coder: ActorCoder) -> any Error {
        guard let type = types[thrown.type], let error = try? Self.decode(type, thrown.payload, coder) else {
            return PeerActorFailure(.thrown, thrown.description)
        }
        return error
    }

    private static func decode<Failure: Error & Codable>(
        _ type: Failure.Type, _ payload: [UInt8], _ coder: ActorCoder
    ) throws -> any Error {
        try coder.decode(type, payload)
    }
}
