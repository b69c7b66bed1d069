internal import CausewayWire

/// Follows logind's signals on the D-Bus system bus: before the machine sleeps and after it wakes.
///
/// The type does no I/O: its owner passes bytes between it and the bus, and reads ``status`` after each ``receive(_:)``
/// call. All requests go to the bus and none to logind, so they do not start logind. A sleep signal is accepted only if
/// its sender currently owns logind's bus name.
package struct SleepNotices: BusClient {
    /// The machine's power state.
    package enum State: Sendable {
        case awake
        /// The machine is about to sleep, or is asleep.
        case asleep
    }

    private static let bus = "org.freedesktop.DBus"
    private static let manager = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"

    private var conversation: BusConversation
    /// The serial number of the `GetNameOwner` call that has no reply yet. `nil` if there is none.
    private var question: UInt32?
    private var holder: String?
    package private(set) var status = State.awake

    package init(user: UInt32) {
        conversation = BusConversation(user: user)
        callBus("Hello")
        // Subscribe to the changes before the `GetNameOwner` request is sent. The name's owner could change between the
        // reply and a later subscription, and this change would be missed.
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
            status = isBeginning ? .asleep : .awake
        default: break
        }
    }

    /// Stores the new owner of logind's bus name, or `nil` if there is none. Also returns the state to `awake`, because
    /// the previous owner can no longer announce the wake-up.
    private mutating func held(by name: String?) {
        let name = name.flatMap { $0.hasPrefix(":") ? $0 : nil }
        guard name != holder else { return }
        holder = name
        status = .awake
    }
}
