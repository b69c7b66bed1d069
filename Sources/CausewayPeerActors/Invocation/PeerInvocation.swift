internal import CausewayPeerProtocols
public import Distributed

/// Encodes a distributed call's arguments. The Swift runtime uses this type.
public struct PeerInvocationEncoder: DistributedTargetInvocationEncoder {
    /// Requires arguments and results to be `Codable`.
    public typealias SerializationRequirement = any Codable

    private let system: PeerActorSystem
    private(set) var arguments: [[UInt8]] = []

    init(_ system: PeerActorSystem) {
        self.system = system
    }

    /// Refuses generic functions and actors: a peer could choose any type in the program for their parameters.
    ///
    /// - Throws: ``PeerActorFailure`` with `unsupported`.
    public mutating func recordGenericSubstitution<Type>(_ type: Type.Type) throws {
        throw PeerActorFailure(.unsupported, "generic distributed functions and actors are not supported")
    }

    /// Encodes an argument.
    ///
    /// - Throws: ``PeerActorFailure`` with `invalidArguments` or `tooLarge`.
    public mutating func recordArgument<Value: Codable>(_ argument: RemoteCallArgument<Value>) throws {
        do {
            arguments.append(try ActorCoder(system: system).encode(argument.value))
        } catch {
            throw PeerActorFailure(
                .invalidArguments, "cannot encode the argument '\(argument.effectiveLabel)': \(error)")
        }
        let limit = system.limits.frameByteCount
        guard arguments.reduce(0, { $0 + $1.count }) <= limit else {
            throw PeerActorFailure(
                .tooLarge, "the arguments have more than \(limit) bytes: see Options.messageByteLimit")
        }
    }

    /// Does nothing, because the error's type name is sent later together with the thrown error.
    public mutating func recordErrorType<Failure: Error>(_ type: Failure.Type) throws {}

    /// Does nothing: the caller already knows the result type.
    public mutating func recordReturnType<Result: Codable>(_ type: Result.Type) throws {}

    /// Does nothing.
    public mutating func doneRecording() throws {}
}

/// Decodes a call's arguments for a distributed function. The Swift runtime uses this type.
public struct PeerInvocationDecoder: DistributedTargetInvocationDecoder {
    /// Arguments and results are `Codable`.
    public typealias SerializationRequirement = any Codable

    /// The error for a peer's argument that cannot be decoded.
    struct InvalidArgument: Error {
        let message: String
    }

    private let system: PeerActorSystem
    private let arguments: [[UInt8]]
    private var next = 0

    init(_ system: PeerActorSystem, _ arguments: [[UInt8]]) {
        self.system = system
        self.arguments = arguments
    }

    /// Returns an empty list: see ``PeerInvocationEncoder/recordGenericSubstitution(_:)``.
    public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] { [] }

    /// Decodes the next argument.
    public mutating func decodeNextArgument<Argument: Codable>() throws -> Argument {
        guard next < arguments.count else {
            throw InvalidArgument(message: "\(arguments.count) arguments are too few")
        }
        defer { next += 1 }
        do {
            return try ActorCoder(system: system).decode(Argument.self, arguments[next])
        } catch {
            throw InvalidArgument(message: "argument \(next + 1) is not a \(Argument.self): \(error)")
        }
    }

    /// Returns `nil`: the error's type is not needed.
    public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }

    /// Returns `nil`. The called function determines the result's type, so this type need not be decoded.
    public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}

/// Receives a distributed function's result. The Swift runtime uses this type.
public struct PeerResultHandler: DistributedTargetInvocationResultHandler {
    /// Arguments and results are `Codable`.
    public typealias SerializationRequirement = any Codable

    let result: ResultBox

    init(_ system: PeerActorSystem) {
        result = ResultBox(system)
    }

    /// Stores the result of the distributed function.
    public func onReturn<Success: Codable>(value: Success) async throws { result.returned(value) }

    /// Records that the function returned nothing.
    public func onReturnVoid() async throws { result.set(.void) }

    /// Stores an error: either the function threw it, or an argument could not be decoded.
    public func onThrow<Failure: Error>(error: Failure) async throws { result.threw(error) }
}
