/// A frame of the actor protocol. Each frame is sent as one message of a peer session.
///
/// ```
/// +------+-----+-----+-----+------+----------+
/// | 0x00 | 'C' | 'W' | 'A' | type | body ... |
/// +------+-----+-----+-----+------+----------+
/// ```
/// Integers are big-endian. A text consists of its byte count (16 bits) and its bytes in UTF-8. Frames of an unknown
/// type are skipped if the number of the type is 0x80 or more. Other unknown types are an error.
package enum ActorFrame: Equatable, Sendable {
    /// A greeting. It announces that the sender has an actor system.
    ///
    /// If `wantsAnswer` is `true`, the receiver answers with its own greeting. It also sends one ``publish(_:)`` frame
    /// for each of its published actors.
    case hello(version: UInt8, wantsAnswer: Bool)
    /// Calls a distributed function.
    case call(ActorCall)
    /// A call's result.
    case reply(call: UInt64, ActorReply)
    /// The caller no longer waits for the reply.
    case cancel(call: UInt64)
    /// An actor is published under a key.
    case publish(ActorListing)
    /// An actor's publication under a key has ended.
    case withdraw(ActorListing)
    /// A frame of a type that only a later protocol version defines. The receiver skips the frame.
    case skipped(UInt8)

    package static let version: UInt8 = 1
    /// Every frame's first bytes. The program's own messages must not begin with them.
    package static let magic: [UInt8] = [0x00, 0x43, 0x57, 0x41]

    /// Whether a message belongs to the actor protocol.
    package static func owns(_ message: some Sequence<UInt8>) -> Bool { message.starts(with: magic) }
}

/// A call to a distributed function.
package struct ActorCall: Equatable, Sendable {
    /// The call number, chosen by the caller.
    package var id: UInt64
    /// The actor's number at the receiver.
    package var actor: UInt64
    /// The function's mangled name.
    package var target: String
    /// The encoded arguments, at most 64.
    package var arguments: [[UInt8]]

    package init(id: UInt64, actor: UInt64, target: String, arguments: [[UInt8]] = []) {
        self.id = id
        self.actor = actor
        self.target = target
        self.arguments = arguments
    }

    /// The total size of the function's name and arguments, in bytes.
    package var byteCount: Int { arguments.reduce(target.utf8.count) { $0 + $1.count } }
}

/// A call's result.
package enum ActorReply: Equatable, Sendable {
    /// The function returned without a result value.
    case void
    /// The encoded result.
    case value([UInt8])
    /// The function threw an error that the called actor system can encode.
    case thrown(ActorThrownError)
    /// The function threw an error that the called actor system does not encode. Only the error's description is sent.
    case described(String)
    /// The function was not called, was cancelled, or has a result that cannot be sent.
    case refused(ActorRefusal, String)
}

/// An error thrown by a distributed function.
package struct ActorThrownError: Equatable, Sendable {
    /// The type's name with its module.
    package var type: String
    /// A description for receivers that do not know the type.
    package var description: String
    package var payload: [UInt8]

    package init(type: String, description: String, payload: [UInt8]) {
        self.type = type
        self.description = description
        self.payload = payload
    }
}

/// The reason why a receiver sends no result for a call.
package enum ActorRefusal: UInt8, CaseIterable, Sendable {
    case unknownActor = 1
    case unknownTarget = 2
    case invalidArguments = 3
    case tooManyCalls = 4
    case tooLarge = 5
    case invalidResult = 6
    case cancelled = 7
    case unsupported = 8
}

/// A published actor.
package struct ActorListing: Hashable, Sendable {
    /// The name of a published actor: a key and an actor type. Programs look up actors by this name.
    package struct Name: Hashable, Sendable {
        package var key: String
        /// The actor type's name, qualified with its module.
        package var type: String

        package init(key: String, type: String) {
            self.key = key
            self.type = type
        }
    }

    package var name: Name
    /// The actor's number at its system.
    package var actor: UInt64

    package init(_ name: Name, actor: UInt64) {
        self.name = name
        self.actor = actor
    }
}
