internal import CausewayActorProtocols
public import Distributed

/// Collects the arguments of a distributed call. For the Swift runtime.
public struct PeerInvocationEncoder: DistributedTargetInvocationEncoder {
    /// Arguments and results are `Codable`.
    public typealias SerializationRequirement = any Codable

    private let system: PeerActorSystem
    private(set) var arguments: [[UInt8]] = []

    init(_ system: PeerActorSystem) {
        self.system = system
    }

    /// Generic functions and actors are not supported: a peer could choose any type of the program for their parameters.
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
            throw PeerActorFailure(.tooLarge, "the arguments have more than \(limit) bytes")
        }
    }

    /// Errors are decoded by the name that is sent with them.
    public mutating func recordErrorType<Failure: Error>(_ type: Failure.Type) throws {}

    /// The type of the result is known to the caller.
    public mutating func recordReturnType<Result: Codable>(_ type: Result.Type) throws {}

    /// All arguments are recorded.
    public mutating func doneRecording() throws {}
}

/// Hands the arguments of a call to a distributed function. For the Swift runtime.
public struct PeerInvocationDecoder: DistributedTargetInvocationDecoder {
    /// Arguments and results are `Codable`.
    public typealias SerializationRequirement = any Codable

    /// An argument of a peer that cannot be decoded.
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

    /// No types: see ``PeerInvocationEncoder/recordGenericSubstitution(_:)``.
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

    /// No type.
    public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }

    /// No type: it is that of the function.
    public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}

/// Receives the result of a distributed function. For the Swift runtime.
public struct PeerResultHandler: DistributedTargetInvocationResultHandler {
    /// Arguments and results are `Codable`.
    public typealias SerializationRequirement = any Codable

    let result: ResultBox

    init(_ system: PeerActorSystem) {
        result = ResultBox(system)
    }

    /// The function returned a value.
    public func onReturn<Success: Codable>(value: Success) async throws { result.returned(value) }

    /// The function returned nothing.
    public func onReturnVoid() async throws { result.set(.void) }

    /// The function threw an error, or an argument could not be decoded.
    public func onThrow<Failure: Error>(error: Failure) async throws { result.threw(error) }
}
