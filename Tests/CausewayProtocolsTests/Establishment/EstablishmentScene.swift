import CausewayTestKit
import CausewayProtocols
import CausewayTypes
import CausewayWire

/// A simulation of how a connection is established, from the name to the connection. It uses virtual time.
///
/// The test defines the behaviour of servers, networks and hosts.
struct EstablishmentScene: ~Copyable {
    enum Reply: Sendable {
        /// Answers after a number of milliseconds with these addresses. If the text is empty, the answer says that the
        /// record does not exist.
        case at(Int, String)
        case alias(Int, String)
        case truncated(Int, String)
        case missing(Int)
        case code(Int, DNSResponseCode)
        /// An old server. It answers the first query with a format error. It answers the second query, which has no
        /// EDNS(0).
        case oldServer(Int, String)
        case never
    }

    struct Script: Sendable {
        var aaaa: Reply
        var a: Reply
        /// The answers of a second DNS server; `nil` if there is only one server.
        var second: (aaaa: Reply, a: Reply)?
        var name = "www.example.com"
        var resolv = ""
        var families: Set<NameLookup.Family> = [.ipv4, .ipv6]
        /// The result of a connection attempt to each address, as a code.
        ///
        /// The codes are: `30` connects after 30 ms (the default), `x30` is refused, `-` gets no answer, `!` has no
        /// route. A `d` means a deprecated source address, and a `u` a unique local one. Codes for the history are: `w`
        /// worked, `f` failed, `r40` had a round trip of 40 ms.
        var fates: [String: String] = [:]
        /// Expired DNS answers that the cache contains at the start.
        var expired: (aaaa: String, a: String)?
        /// The time at which the program skips the current endpoint.
        var skip: Int?
        /// Names for which the simulated DNS server has only one answer, which is `missing`.
        var missingNames: Set<String> = []
    }

    private enum Event {
        case reply([UInt8], DNSClient.ExchangeID)
        case connected(Int), failed(Int), skip, wake
    }

    private let script: Script
    private var client: DNSClient
    private var lookup: NameLookup
    private var race: AddressRace
    private var now: Duration = .zero
    private var events: [(time: Duration, event: Event)] = []
    private var questions: [DNSClient.QuestionID: (name: DNSName, type: DNSRecordType)] = [:]
    private var names: [String] = []
    private var live: Set<Int> = []
    private(set) var mostLive = 0
    private(set) var log: [String] = []
    private var isOver = false

    init(_ script: Script) {
        self.script = script
        let configuration = ResolverConfiguration(parsing: script.resolv)
        let servers = script.second == nil ? [DNSRig.first] : [DNSRig.first, DNSRig.second]
        client = DNSClient(servers, configuration.options, random: SplitMix64(seed: 7))
        var context = ResolverEnvironment()
        context.configuration = configuration
        lookup = NameLookup(script.name, families: script.families, in: context)
        race = AddressRace(awaiting: script.families)
    }

    /// Runs the simulation until no event is left.
    ///
    /// Returns a text with the start of each connection attempt and the result. The result is `=` and the winner, or
    /// `X` if there is no winner.
    mutating func run() -> String {
        if let skip = script.skip { schedule(.skip, after: skip) }
        perform(lookup.begin())
        while !isOver {
            let next = events.indices.min { events[$0].time < events[$1].time }
            let deadline = client.deadline
            if let next, deadline.map({ events[next].time <= $0 }) ?? true {
                let (time, event) = events.remove(at: next)
                now = max(now, time)
                take(event)
            } else if let deadline {
                now = max(now, deadline)
                perform(client.advance(to: now))
            } else {
                log.append("stuck")
                break
            }
        }
        return log.joined(separator: ", ")
    }

    private mutating func schedule(_ event: Event, after milliseconds: Int) {
        events.append((now + .milliseconds(milliseconds), event))
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .reply(let bytes, let exchange): perform(client.received(bytes, for: exchange, at: now))
        case .connected(let candidate): if live.contains(candidate) { perform(race.connected(candidate)) }
        case .failed(let candidate):
            if live.remove(candidate) != nil { perform(race.failed(candidate, at: now)) }
        case .skip: perform(race.skipped(at: now))
        case .wake: perform(race.advance(to: now))
        }
    }

    // MARK: Names

    private mutating func perform(_ actions: [NameLookup.Action]) {
        for action in actions {
            switch action {
            case .ask(let name, let type):
                if let expired = script.expired {
                    let texts = type == .aaaa ? expired.aaaa : expired.a
                    if !texts.isEmpty {
                        let answer = DNSAnswer(.records(records(texts, name)), for: name)
                        perform(lookup.answered(name, type, with: answer, from: .expiredCache))
                    }
                }
                let (id, actions) = client.ask(name, type, at: now)
                questions[id] = (name, type)
                perform(actions)
            case .found(let addresses, _, _): found(addresses)
            case .settled(let family): perform(race.settled(family, at: now))
            case .end:
                for family in [NameLookup.Family.ipv6, .ipv4] { perform(race.settled(family, at: now)) }
            case .askLink: break
            }
        }
    }

    private mutating func perform(_ actions: [DNSClient.Action]) {
        for action in actions {
            switch action {
            case .send(let exchange, let bytes, _, let server, let carrier): answer(bytes, exchange, server, carrier)
            case .forget: break
            case .answer(let id, let answer):
                guard let (name, type) = questions[id] else { continue }
                perform(lookup.answered(name, type, with: answer, from: .query(answer.carrier ?? .udp)))
            }
        }
    }

    private mutating func answer(
        _ bytes: [UInt8], _ exchange: DNSClient.ExchangeID, _ server: DNSServer, _ carrier: DNSCarrier
    ) {
        guard let query = try? DNSRig.message(bytes), let question = query.questions.first else { return }
        let replies = server == DNSRig.first ? (script.aaaa, script.a) : script.second ?? (.never, .never)
        var reply = question.type == .aaaa ? replies.0 : replies.1
        if script.missingNames.contains(question.name.description.lowercased()) { reply = .missing(20) }
        func respond(
            _ time: Int, _ code: DNSResponseCode = .noError, _ answers: [DNSRecord] = [],
            change: (inout DNSMessage) -> Void = { _ in }
        ) -> (Int, [UInt8]) {
            (time, DNSRig.response(to: bytes, code, answers: answers, change: change))
        }
        let response: (Int, [UInt8])
        switch reply {
        case .never: return
        case .at(let time, let texts): response = respond(time, .noError, records(texts, question.name))
        case .alias(let time, let texts):
            let target: DNSName = "alias.example"
            response = respond(time, .noError, [DNSRig.alias(question.name, target)] + records(texts, target))
        case .truncated(let time, let texts):
            let isTruncated = carrier == .udp
            response = respond(time, .noError, isTruncated ? [] : records(texts, question.name)) {
                if isTruncated { $0.flags.insert(.isTruncated) }
            }
        case .missing(let time): response = respond(time, .nameError)
        case .code(let time, let code):
            response = respond(time, code) { $0.extensions = DNSExtensions(payloadByteCount: 512) }
        case .oldServer(let time, let texts):
            response =
                query.extensions == nil
                ? respond(time, .noError, records(texts, question.name)) : respond(time, .formatError)
        }
        schedule(.reply(response.1, exchange), after: response.0)
    }

    private func records(_ texts: String, _ name: DNSName) -> [DNSRecord] {
        texts.split(separator: " ").map { text in
            let number = UInt64(text.dropFirst().reduce(0) { $0 * 26 + Int($1.asciiValue ?? 97) - 97 }) + 1
            return text.first == "6" ? DNSRig.aaaa(name, number) : DNSRig.a(name, UInt32(number))
        }
    }

    /// Returns an address in the notation of the test script, such as `4a`.
    private func text(_ address: InternetAddress) -> String {
        let (family, number) =
            switch address {
            case .ipv4(let address): ("4", Int(address.bits & 0xFF) - 1)
            case .ipv6(let address): ("6", Int(address.low) - 1)
            }
        let letter = { (value: Int) in String(UnicodeScalar(UInt8(97 + value))) }
        return family + (number < 26 ? letter(number) : letter(number / 26) + letter(number % 26))
    }

    // MARK: Attempts

    private mutating func found(_ addresses: [InternetAddress]) {
        var new: [(destination: Destination, experience: AddressRace.History)] = []
        for address in addresses where !names.contains(text(address)) {
            let name = text(address)
            names.append(name)
            let marks = script.fates[name] ?? ""
            var experience = AddressRace.History()
            experience.hasWorked = marks.contains("w")
            experience.hasFailed = marks.contains("f")
            if let start = marks.firstIndex(of: "r") {
                experience.roundTrip = Int(marks[marks.index(after: start)...]).map { .milliseconds($0) }
            }
            new.append((Destination(address, source: source(address, marks)), experience))
        }
        perform(race.found(new, at: now).steps)
    }

    private func source(_ address: InternetAddress, _ marks: String) -> Destination.Source? {
        guard !marks.contains("!") else { return nil }
        let own: InternetAddress =
            switch address {
            case .ipv4: .ipv4(IPv4Address(bits: 0xCB00_7102))
            case .ipv6: .ipv6(IPv6Address(high: marks.contains("u") ? 0xFD00 << 48 : 0x2001_0DB8_0001_0000, low: 2))
            }
        return Destination.Source(own, prefixLength: 64, isDeprecated: marks.contains("d"))
    }

    private mutating func perform(_ steps: [AttemptRace.Step]) {
        for step in steps {
            switch step {
            case .start(let candidate): start(candidate)
            case .wake(let time): events.append((time, .wake))
            case .abandon(let losers): live.subtract(losers)
            case .win(let candidate):
                live.remove(candidate)
                finish("=\(names[candidate])")
            case .exhausted: finish("X")
            }
        }
    }

    private mutating func start(_ candidate: Int) {
        if isOver { log.append("started after the end") }
        log.append("\(milliseconds) \(names[candidate])")
        live.insert(candidate)
        mostLive = max(mostLive, live.count)
        let marks = (script.fates[names[candidate]] ?? "").prefix { $0 != "r" }
        let digits = Int(marks.filter(\.isNumber))
        if marks.contains("!") { return schedule(.failed(candidate), after: 0) }
        if marks.contains("-") { return }
        schedule(marks.contains("x") ? .failed(candidate) : .connected(candidate), after: digits ?? 30)
    }

    private mutating func finish(_ end: String) {
        log.append("\(milliseconds) \(end)")
        if !live.isEmpty { log.append("left \(live.count)") }
        isOver = true
    }

    private var milliseconds: Int64 { now / .milliseconds(1) >= 0 ? Int64((now / .milliseconds(1)).rounded()) : 0 }
}
