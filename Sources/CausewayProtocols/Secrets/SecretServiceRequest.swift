internal import CausewayWire

/// One request to the desktop's Secret Service (Secret Service API 0.2), over the D-Bus session bus.
///
/// Each program has one secret, which the service finds by the secret's attributes. The request never starts the
/// service, unlocks a keyring or prompts the user: if no service runs, or the keyring is locked, the request ends with
/// ``Outcome/unavailable(_:)``. Only replies from the owner of the service's bus name are accepted.
///
/// The type does no I/O: until ``outcome`` is set, the caller passes bytes from the bus to the request, and from the
/// request to the bus. The secret crosses the bus unencrypted ("plain" session): only the user's processes can read the
/// bus, and they can request the secret as well.
package struct SecretServiceRequest: Sendable {
    package enum Operation: Equatable, Sendable {
        case read
        /// Replaces the stored secret. If there is none, creates it in the default keyring. The new secret has at most
        /// ``SecretServiceRequest/secretLimit`` bytes.
        case write([UInt8])
    }

    package enum Outcome: Equatable, Sendable {
        /// The secret; `nil` if there is none.
        case secret([UInt8]?)
        case written
        /// The secret cannot be read or written at the moment. The text is the reason.
        case unavailable(String)
    }

    private enum Step: Equatable, Sendable {
        case hello, owner, session, search, secrets, keyring, lock, store
    }

    /// The maximum secret size in bytes. One bus message holds the secret and its attributes.
    package static let secretLimit = DBusMessage.byteLimit / 2
    private static let bus = "org.freedesktop.DBus"
    private static let name = "org.freedesktop.secrets"
    private static let interface = "org.freedesktop.Secret"

    private let operation: Operation
    private let attributes: DBusValue
    private let label: String
    private var conversation: BusConversation
    private var step = Step.hello
    private var awaited: UInt32?
    private var owner = ""
    private var session = ""
    /// The D-Bus object path of the item to read, or of the keyring in which to store the secret.
    private var place = ""
    /// The result; `nil` until the request has ended.
    package private(set) var outcome: Outcome?

    /// - Parameters:
    ///   - operation: Whether to read or to write the secret.
    ///   - application: Identifies the secret among those of other programs.
    ///   - label: A name for the secret, shown by the user's keyring program.
    ///   - user: The process's user ID.
    package init(_ operation: Operation, application: String, label: String, user: UInt32) {
        self.operation = operation
        self.label = label
        attributes = .array(
            .entry(key: .string, value: .string),
            [
                .entry(key: .string("xdg:schema"), value: .string("org.causeway.Credentials")),
                .entry(key: .string("application"), value: .string(application)),
            ])
        conversation = BusConversation(user: user)
        if case .write(let secret) = operation, secret.count > Self.secretLimit {
            outcome = .unavailable("more than \(Self.secretLimit) bytes of credentials")
        }
        callBus("Hello")
    }

    /// Returns the bytes to send and clears the buffer.
    package mutating func takeOutput() -> [UInt8] { conversation.takeOutput() }

    /// Processes bytes from the bus. A message may arrive in several pieces.
    package mutating func receive(_ bytes: [UInt8]) {
        for message in conversation.receive(bytes) where outcome == nil { adopt(message) }
        if outcome == nil, let end = conversation.end { outcome = .unavailable(end) }
    }

    // MARK: Calls

    private mutating func callBus(_ member: String, _ arguments: DBusValue...) {
        call(member, of: Self.bus, at: "/org/freedesktop/DBus", in: Self.bus, arguments)
    }

    private mutating func callService(
        _ member: String, at path: String = "/org/freedesktop/secrets", in part: String = ".Service",
        _ arguments: DBusValue...
    ) {
        call(member, of: owner, at: path, in: Self.interface + part, arguments)
    }

    private mutating func call(
        _ member: String, of destination: String, at path: String, in interface: String, _ body: [DBusValue]
    ) {
        var call = DBusMessage(.call, serial: 0)
        (call.path, call.interface, call.member) = (path, interface, member)
        (call.destination, call.flags, call.body) = (destination, DBusMessage.noAutoStart, body)
        awaited = conversation.send(call)
    }

    // MARK: Answers

    private mutating func adopt(_ message: DBusMessage) {
        guard let awaited, message.replySerial == awaited, [.answer, .error].contains(message.kind),
            message.sender == (step == .hello || step == .owner ? Self.bus : owner)
        else { return }
        self.awaited = nil
        guard message.kind == .answer else {
            let name = message.errorName ?? "an error"
            return fail(step == .owner ? "no Secret Service runs" : "the Secret Service answered with \(name)")
        }
        switch step {
        case .hello:
            step = .owner
            callBus("GetNameOwner", .string(Self.name))
        case .owner:
            guard let name = message.body.first?.text, name.hasPrefix(":") else { return failMalformed() }
            (owner, step) = (name, .session)
            callService("OpenSession", .string("plain"), .variant(.string("")))
        case .session:
            guard message.body.count == 2, let path = message.body[1].text else { return failMalformed() }
            session = path
            begin()
        case .search: searched(message.body)
        case .secrets: gotSecrets(message.body)
        case .keyring: foundKeyring(message.body)
        case .lock: gotLock(message.body)
        case .store: stored(message.body)
        }
    }

    private mutating func begin() {
        switch operation {
        case .read:
            step = .search
            callService("SearchItems", attributes)
        case .write:
            step = .keyring
            callService("ReadAlias", .string("default"))
        }
    }

    /// Handles the `SearchItems` reply, which contains the unlocked items and then the locked items.
    private mutating func searched(_ body: [DBusValue]) {
        guard body.count == 2 else { return failMalformed() }
        guard let item = body[0].elements.first?.text else {
            if body[1].elements.isEmpty { outcome = .secret(nil) } else { fail("the keyring is locked") }
            return
        }
        (place, step) = (item, .secrets)
        callService("GetSecrets", .array(.objectPath, [.objectPath(item)]), .objectPath(session))
    }

    /// Handles the `GetSecrets` reply: a dictionary from items to structures (session, parameters, value, content
    /// type).
    private mutating func gotSecrets(_ body: [DBusValue]) {
        guard let fields = body.first?.dictionary[place]?.fields, fields.count == 4, case .bytes(let secret) = fields[2]
        else { return failMalformed() }
        outcome = .secret(secret)
    }

    private mutating func foundKeyring(_ body: [DBusValue]) {
        guard let keyring = body.first?.text else { return failMalformed() }
        guard keyring != "/" else { return fail("there is no default keyring") }
        (place, step) = (keyring, .lock)
        call(
            "Get", of: owner, at: keyring, in: "org.freedesktop.DBus.Properties",
            [.string(Self.interface + ".Collection"), .string("Locked")])
    }

    private mutating func gotLock(_ body: [DBusValue]) {
        guard case .variant(.boolean(let isLocked))? = body.first, case .write(let secret) = operation else {
            return failMalformed()
        }
        guard !isLocked else { return fail("the keyring is locked") }
        step = .store
        callService(
            "CreateItem", at: place, in: ".Collection",
            .array(
                .entry(key: .string, value: .variant),
                [
                    .entry(key: .string(Self.interface + ".Item.Label"), value: .variant(.string(label))),
                    .entry(key: .string(Self.interface + ".Item.Attributes"), value: .variant(attributes)),
                ]),
            .structure([
                .objectPath(session), .bytes([]), .bytes(secret), .string("text/plain"),
            ]),
            .boolean(true))
    }

    /// Handles the reply to `CreateItem`. The reply contains the item and the path of a prompt. The user would have to
    /// answer the prompt first. If the path is `/`, there is no prompt.
    private mutating func stored(_ body: [DBusValue]) {
        guard body.count == 2, let prompt = body[1].text else { return failMalformed() }
        if prompt == "/" { outcome = .written } else { fail("the keyring asks for a password") }
    }

    private mutating func fail(_ reason: String) { outcome = .unavailable(reason) }
    private mutating func failMalformed() { fail("malformed answer of the Secret Service") }
}
