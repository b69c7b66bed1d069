/// A frame of the actor protocol: one message of a session.
///
/// ```
/// +------+-----+-----+-----+------+----------+
/// | 0x00 | 'C' | 'W' | 'A' | type | body ... |
/// +------+-----+-----+-----+------+----------+
/// ```
/// Integers are big-endian. A text is its length in bytes (16 bits) and UTF-8. Types from 0x80 are skipped if they are unknown.
package enum ActorFrame: Equatable, Sendable {
    /// The peer has an actor system. If `wantsAnswer`, the receiver sends its greeting and its listings.
    case hello(version: UInt8, wantsAnswer: Bool)
    /// Calls a distributed function.
    case call(ActorCall)
    /// The result of a call.
    case reply(call: UInt64, ActorReply)
    /// The caller does not wait any more.
    case cancel(call: UInt64)
    /// An actor is published under a key.
    case publish(ActorListing)
    /// An actor is not published any more.
    case withdraw(ActorListing)
    /// A frame of a later version, without an effect.
    case skipped(UInt8)

    package static let version: UInt8 = 1
    /// The first bytes of every frame. Messages of the program must not begin with them.
    package static let magic: [UInt8] = [0x00, 0x43, 0x57, 0x41]

    /// Whether a message belongs to the actor protocol.
    package static func owns(_ message: some Sequence<UInt8>) -> Bool { message.starts(with: magic) }
}

/// A call of a distributed function.
package struct ActorCall: Equatable, Sendable {
    /// Number of the call, which the caller chose.
    package var id: UInt64
    /// Number of the actor at the receiver.
    package var actor: UInt64
    /// Mangled name of the function.
    package var target: String
    /// The encoded arguments.
    package var arguments: [[UInt8]]

    package init(id: UInt64, actor: UInt64, target: String, arguments: [[UInt8]] = []) {
        self.id = id
        self.actor = actor
        self.target = target
        self.arguments = arguments
    }

    /// Size of the arguments and the name in bytes.
    package var byteCount: Int { arguments.reduce(target.utf8.count) { $0 + $1.count } }
}

/// The result of a call.
package enum ActorReply: Equatable, Sendable {
    /// The function returned nothing.
    case void
    /// The encoded result.
    case value([UInt8])
    /// The function threw an error that can be encoded.
    case thrown(ActorThrownError)
    /// The function threw an error that cannot be encoded: its description.
    case described(String)
    /// The function was not called, or its result cannot be sent.
    case refused(ActorRefusal, String)
}

/// An error that a distributed function threw.
package struct ActorThrownError: Equatable, Sendable {
    /// Name of the type with its module.
    package var type: String
    /// For receivers that do not know the type.
    package var description: String
    package var payload: [UInt8]

    package init(type: String, description: String, payload: [UInt8]) {
        self.type = type
        self.description = description
        self.payload = payload
    }
}

/// The reason why the receiver of a call did not perform it.
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
    /// The key and the type, under which the actor is looked up.
    package struct Name: Hashable, Sendable {
        package var key: String
        /// Mangled name of the actor's type.
        package var type: String

        package init(key: String, type: String) {
            self.key = key
            self.type = type
        }
    }

    package var name: Name
    /// Number of the actor.
    package var actor: UInt64

    package init(_ name: Name, actor: UInt64) {
        self.name = name
        self.actor = actor
    }
}
