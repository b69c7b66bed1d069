import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Sleep signals of logind")
struct SleepNoticesTests {
    private static let bus = "org.freedesktop.DBus"
    private static let logind = ":1.3"

    /// Returns a client that is connected to a simulated bus. `holder` is the program that owns logind's bus name;
    /// `nil` for none.
    private static func started(holder: String? = logind) -> SleepNotices {
        var notices = SleepNotices(user: 0)
        _ = notices.takeOutput()
        notices.receive(Array("OK 0123456789abcdef\r\n".utf8))
        var heard = Array(notices.takeOutput().dropFirst("BEGIN\r\n".utf8.count))
        var calls: [DBusMessage] = []
        while let count = (try? DBusMessage.byteCount(of: heard.span)) ?? nil, count <= heard.count {
            if let call = try? DBusMessage(parsing: heard.span.extracting(..<count)) { calls.append(call) }
            heard.removeFirst(count)
        }
        #expect(calls.map(\.member) == ["Hello", "AddMatch", "AddMatch", "GetNameOwner"])
        var answer = DBusMessage(holder == nil ? .error : .answer, serial: 1)
        (answer.sender, answer.replySerial) = (bus, calls.last?.serial)
        answer.body = holder.map { [.string($0)] } ?? []
        notices.receive(answer.encoded)
        return notices
    }

    private static func signal(_ member: String, from sender: String, _ body: DBusValue...) -> [UInt8] {
        var message = DBusMessage(.signal, serial: 9)
        (message.sender, message.member, message.body) = (sender, member, body)
        let isBus = sender == bus
        message.path = isBus ? "/org/freedesktop/DBus" : "/org/freedesktop/login1"
        message.interface = isBus ? bus : "org.freedesktop.login1.Manager"
        return message.encoded
    }

    private static func prepare(_ isBeginning: Bool, from sender: String = logind) -> [UInt8] {
        signal("PrepareForSleep", from: sender, .boolean(isBeginning))
    }

    @Test("The signals for sleep and wake-up")
    func sleeps() {
        var notices = Self.started()
        #expect(notices.status == .awake)
        notices.receive(Self.prepare(true))
        #expect(notices.status == .asleep)
        notices.receive(Self.prepare(false))
        #expect(notices.status == .awake && notices.end == nil)
    }

    @Test("Signals of other programs, and other signals, are ignored")
    func strangers() {
        var notices = Self.started()
        notices.receive(Self.prepare(true, from: ":1.99"))
        notices.receive(Self.signal("PrepareForSleep", from: Self.logind, .string("true")))
        notices.receive(Self.signal("PrepareForShutdown", from: Self.logind, .boolean(true)))
        #expect(notices.status == .awake)
        var alone = Self.started(holder: nil)
        alone.receive(Self.prepare(true))
        #expect(alone.status == .awake)
    }

    @Test("A logind that starts is followed; when it ends, the machine counts as awake")
    func holders() {
        var notices = Self.started(holder: nil)
        let name = "org.freedesktop.login1"
        func moved(_ old: String, _ new: String) -> [UInt8] {
            Self.signal("NameOwnerChanged", from: Self.bus, .string(name), .string(old), .string(new))
        }
        notices.receive(moved("", ":1.40"))
        notices.receive(Self.prepare(true, from: ":1.40"))
        #expect(notices.status == .asleep)
        notices.receive(moved(":1.40", ""))
        #expect(notices.status == .awake)
    }
}
