import ArgumentParser
import CausewayPackets
import CausewaySystem
import CausewayTypes

/// One run of `nw ping`, on its own thread.
final class PingSession {
    private let command: PingCommand
    private let target: HostAddress
    private let socket: Descriptor
    private let isRaw: Bool
    private let identifier = UInt16.random(in: 1...UInt16.max)
    private let clock = ContinuousClock()
    /// When each unanswered request was sent, by sequence number.
    private var waiting: [UInt16: ContinuousClock.Instant] = [:]
    private var tally = PingTally()
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(_ command: PingCommand, _ target: HostAddress) throws {
        self.command = command
        self.target = target
        var isRaw = false
        socket = try Self.open(target.isIPv6, &isRaw)
        self.isRaw = isRaw
        try command.origin?.apply(to: socket.rawValue)
        if let ttl = command.ttl {
            do { try PacketSockets.setHopLimit(socket.rawValue, isIPv6: target.isIPv6, ttl) } catch {
                throw CommandFailure("cannot set -t \(ttl)", error)
            }
        }
        if let fragmentation = command.fragmentation {
            do {
                try PacketSockets.setFragmentation(
                    socket.rawValue, isIPv6: target.isIPv6, isAllowed: fragmentation == "dont")
            } catch { throw CommandFailure("cannot set -M \(fragmentation)", error) }
        }
    }

    /// Opens an ICMP socket. A datagram ICMP socket needs no privilege if the system allows it; otherwise a raw socket is used.
    static func open(_ isIPv6: Bool, _ isRaw: inout Bool) throws -> Descriptor {
        if let socket = try? PacketSockets.icmp(isIPv6: isIPv6, raw: false) { return socket }
        isRaw = true
        do { return try PacketSockets.icmp(isIPv6: isIPv6, raw: true) } catch {
            throw CommandFailure(
                """
                ICMP requires your group in sysctl net.ipv4.ping_group_range, or a capability. Run once: \
                setcap cap_net_raw=ep \(CommandLine.arguments[0])
                """)
        }
    }

    func run(until stop: StopFlag) throws {
        if !command.json {
            let whole = command.size + 8 + (target.isIPv6 ? 40 : 20)
            printLine("PING \(command.host) (\(target.text)) \(command.size)(\(whole)) bytes of data.")
        }
        let start = clock.now
        var next = start
        var deadline: ContinuousClock.Instant?
        while !stop.isSet {
            let now = clock.now
            if let deadline, now >= deadline || waiting.isEmpty { break }
            if deadline == nil, now >= next {
                send()
                next = now + (command.floods ? .milliseconds(10) : .seconds(command.interval))
                if tally.sent == command.count { deadline = now + .seconds(command.wait) }
            }
            let until = deadline ?? next
            // Wait only for short times, so that the loop detects an interrupt soon. In the last millisecond before a
            // request, poll without sleeping. Otherwise an idle processor's wake-up time would be measured as network
            // time. At intervals below 10 ms, the loop polls nearly always.
            let rest = Int((until - clock.now) / .milliseconds(1))
            let pause = rest < (command.interval < 0.01 ? 5 : 1) ? 0 : min(100, rest)
            if PacketSockets.wait(socket.rawValue, milliseconds: CInt(pause)) {
                let before = tally.received
                try receiveAll()
                if command.floods, tally.received > before { next = clock.now }
            }
        }
        finish(clock.now - start)
        if tally.received == 0 { throw ExitCode.failure }
    }

    private func send() {
        tally.sent += 1
        let number = UInt16(truncatingIfNeeded: tally.sent)
        var packet = PacketBuilder()
        packet.add(.echo(type: target.isIPv6 ? 128 : 8, identifier: identifier, sequence: number))
        packet.add(payload: (0..<command.size).map { UInt8(truncatingIfNeeded: $0) })
        let bytes = packet.finish()
        // Take the time just before the system call, because the reply may arrive before the call returns.
        var left = clock.now
        do {
            _ = try bytes.withUnsafeBytes { bytes throws(SystemError) in
                left = clock.now
                return try PacketSockets.send(socket.rawValue, bytes, to: target.socketAddress)
            }
            waiting[number] = left
        } catch {
            tally.errors += 1
            let why = (error as? SystemError).map { String(cString: strerror($0.errno)) } ?? "\(error)"
            report("\"error\":\"\(why)\",\"seq\":\(tally.sent)", "nw: ping: send failed: \(why)")
        }
    }

    private func receiveAll() throws {
        while true {
            let datagram: PacketArrival?
            do {
                datagram = try buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
                    try PacketSockets.receive(socket.rawValue, into: bytes)
                }
            } catch { return }
            guard let datagram else { return }
            // Use the kernel's arrival time, because this thread may wake up some time after the arrival.
            take(datagram, clock.now - (datagram.age ?? .zero))
        }
    }

    /// Finds the ICMP header in a datagram. With an IPv4 raw socket, the datagram begins with the IP header. A packet
    /// from the error queue begins with the ICMP header that this program has sent.
    private func message(_ datagram: PacketArrival) -> (header: ICMPHeader, hops: Int?)? {
        let content = Array(buffer.prefix(min(datagram.byteCount, 64)))
        let bytes = ByteView(content.span)
        var offset = 0
        var hops = datagram.hops
        if isRaw, !target.isIPv6, datagram.error == 0 {
            guard let first = try? bytes.u8(0) else { return nil }
            offset = Int(first & 15) * 4
            hops = (try? bytes.u8(8)).map(Int.init)
        }
        guard let header = try? ICMPHeader(bytes, at: offset) else { return nil }
        return (header, hops)
    }

    private func take(_ datagram: PacketArrival, _ arrived: ContinuousClock.Instant) {
        guard let (header, hops) = message(datagram) else { return }
        if isRaw, header.identifier != identifier { return }
        let number = header.sequence
        if datagram.error != 0 { return takeError(datagram, number) }
        guard header.type == (target.isIPv6 ? 129 : 0) else { return }
        guard let left = waiting.removeValue(forKey: number) else {
            tally.duplicates += 1
            return report("\"seq\":\(number),\"duplicate\":true", "reply to icmp_seq=\(number) (DUP!)")
        }
        let milliseconds = max(.zero, arrived - left) / .microseconds(1) / 1000
        tally.received(after: milliseconds)
        let size = command.size + 8
        let shownHops = hops.map { " ttl=\($0)" } ?? ""
        report(
            "\"from\":\"\(target.text)\",\"seq\":\(number),\"ttl\":\(hops ?? 0),\"bytes\":\(size),\"milliseconds\":\(Self.decimals(milliseconds))",
            "\(size) bytes from \(target.text): icmp_seq=\(number)\(shownHops) time=\(Self.significant(milliseconds)) ms"
        )
    }

    private func takeError(_ datagram: PacketArrival, _ number: UInt16) {
        guard waiting.removeValue(forKey: number) != nil else { return }
        tally.errors += 1
        let what = Self.errorText(datagram, target.isIPv6)
        let from = datagram.offender.map(AddressText.text) ?? target.text
        report(
            "\"from\":\"\(from)\",\"seq\":\(number),\"error\":\"\(what)\"", "From \(from) icmp_seq=\(number) \(what)")
    }

    private static func errorText(_ datagram: PacketArrival, _ isIPv6: Bool) -> String {
        switch (isIPv6, datagram.icmpType, datagram.icmpCode) {
        case (false, 3, 0): "Destination Net Unreachable"
        case (false, 3, 1): "Destination Host Unreachable"
        case (false, 3, 2): "Destination Protocol Unreachable"
        case (false, 3, 3): "Destination Port Unreachable"
        case (false, 3, 4): "Frag needed and DF set (mtu = \(datagram.information))"
        case (true, 2, _): "Packet too big: mtu=\(datagram.information)"
        case (false, 3, 9), (false, 3, 10), (false, 3, 13): "Packet filtered"
        case (true, 1, 1): "Destination unreachable: Administratively prohibited"
        case (false, 11, _): "Time to live exceeded"
        case (true, 3, _): "Time exceeded: Hop limit"
        case (true, 1, 0): "Destination unreachable: No route"
        case (true, 1, 3): "Destination unreachable: Address unreachable"
        case (true, 1, 4): "Destination unreachable: Port unreachable"
        default: String(cString: strerror(datagram.error))
        }
    }

    private func report(_ json: String, _ line: String) {
        guard !command.isQuiet, !command.floods else { return }
        printLine(command.json ? PrintableText(document: "{\(json)}") : "\(line)")
    }

    private func finish(_ duration: Duration) {
        if command.json { return printLine(tally.json()) }
        for line in tally.lines(host: command.host, duration) { printLine(line) }
    }

    static func decimals(_ value: Double) -> String { fixed(value, 3) }
    /// Formats a number with three significant digits, as ping does.
    private static func significant(_ value: Double) -> String {
        value >= 100 ? fixed(value, 0) : value >= 10 ? fixed(value, 1) : value >= 1 ? fixed(value, 2) : fixed(value, 3)
    }
    static func fixed(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let whole = Int((value * scale).rounded())
        guard digits > 0 else { return "\(whole)" }
        let fraction = String(whole % Int(scale))
        return "\(whole / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
