internal import CausewayWire

/// Follows what logind says of the machine's sleep, over the system's message bus: just before it, and after it.
///
/// It does no I/O: its owner carries bytes both ways, and looks at ``news`` after each arrival. logind is not started by being
/// asked, and only the program that holds its name is believed.
package struct SleepNotices: BusClient {
    /// What the machine is about to do, or has done.
    package enum State: Sendable {
        case awake
        /// It will sleep within a moment, or does.
        case asleep
    }

    private static let bus = "org.freedesktop.DBus"
    private static let manager = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"

    private var conversation: BusConversation
    /// The serial of the question who holds logind's name, until it is answered.
    private var question: UInt32?
    private var holder: String?
    package private(set) var news = State.awake

    package init(user: UInt32) {
        conversation = BusConversation(user: user)
        callBus("Hello")
        // First to be told, then to ask: nothing is missed in between.
        callBus(
            "AddMatch",
            "type='signal',sender='\(Self.manager)',path='\(Self.path)',interface='\(Self.manager).Manager',"
                + "member='PrepareForSleep'")
        callBus(
            "AddMatch",
            "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.manager)'"
        )
        question = callBus("GetNameOwner", Self.manager)
    }

    package var end: String? { conversation.end }

    package mutating func takeOutput() -> [UInt8] { conversation.takeOutput() }

    package mutating func receive(_ bytes: [UInt8]) {
        for message in conversation.receive(bytes) { adopt(message) }
    }

    @discardableResult
    private mutating func callBus(_ member: String, _ arguments: String...) -> UInt32 {
        var call = DBusMessage(.call, serial: 0)
        (call.path, call.interface, call.member) = ("/org/freedesktop/DBus", Self.bus, member)
        call.destination = Self.bus
        call.body = arguments.map { .string($0) }
        return conversation.send(call)
    }

    private mutating func adopt(_ message: DBusMessage) {
        switch message.kind {
        case .answer, .error:
            guard message.sender == Self.bus, let question, message.replySerial == question else { return }
            self.question = nil
            held(by: message.kind == .answer ? message.body.first?.text : nil)
        case .signal where message.sender == Self.bus:
            guard message.member == "NameOwnerChanged", message.body.count == 3,
                message.body[0].text == Self.manager
            else { return }
            question = nil
            held(by: message.body[2].text)
        case .signal:
            guard let sender = message.sender, sender == holder, message.member == "PrepareForSleep",
                case .boolean(let isBeginning)? = message.body.first
            else { return }
            news = isBeginning ? .asleep : .awake
        default: break
        }
    }

    /// Somebody else holds the name now, or nobody: whoever said that the machine sleeps will not say that it woke.
    private mutating func held(by name: String?) {
        let name = name.flatMap { $0.hasPrefix(":") ? $0 : nil }
        guard name != holder else { return }
        holder = name
        news = .awake
    }
}
