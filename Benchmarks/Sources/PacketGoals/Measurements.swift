import CausewayCapture
import CausewayPackets
import CausewayTypes
import Glibc

/// Measures how fast packets from a file are read and decoded.
enum Files {
    static func decode(_ path: String) throws {
        let packets = try Trace.packets(path, 1000)
        let rounds = 500
        let time = PacketGoals.best(packets.count * rounds) {
            var total = 0
            var layers = PacketLayers()
            for _ in 0..<rounds {
                packets.forEach { packet in
                    layers.find(in: packet, linkType: .ethernet)
                    total &+= layers.count &+ layers.payload.lowerBound
                }
            }
            PacketGoals.use(total)
        }
        PacketGoals.report("ns", time)
    }

    static func read(_ path: String) throws {
        var count = 0
        func once() throws {
            count = 0
            var total = 0
            var layers = PacketLayers()
            try Trace.each(path) { packet, bytes in
                layers.find(in: bytes, linkType: packet.linkType, originalCount: packet.originalCount)
                total &+= layers.count &+ layers.payload.lowerBound
                count += 1
                return true
            }
            PacketGoals.use(total)
        }
        try once()
        PacketGoals.report("ns", try PacketGoals.best(of: 5, count, once))
    }
}

/// Measures packet filters on packets in memory.
enum Filters {
    private static func time(_ filter: PacketFilter, _ packets: Trace.Packets) -> Double {
        let rounds = 200
        return PacketGoals.best(packets.count * rounds) {
            var matched = 0
            for _ in 0..<rounds {
                packets.forEach { if filter.matches($0) { matched &+= 1 } }
            }
            PacketGoals.use(matched)
        }
    }

    static func evaluate(_ path: String, _ expression: String) throws {
        let packets = try Trace.packets(path, 1000)
        PacketGoals.report("ns", time(try PacketFilter(expression, linkType: .ethernet), packets))
    }

    static func hosts(_ path: String, _ count: Int) throws {
        let expression = (0..<count).map { "host 10.\(1 + $0 / 60_000).\($0 / 250 % 240).\($0 % 250)" }
            .joined(separator: " or ")
        var filter: PacketFilter?
        let nanoseconds = try PacketGoals.best(of: 3, 1) { filter = try PacketFilter(expression, linkType: .ethernet) }
        guard let filter else { return }
        PacketGoals.report("ms", nanoseconds / 1e6)
        PacketGoals.report("ns", time(filter, try Trace.packets(path, 1000)))
    }
}

/// Measures building, storing and sending packets.
enum Crafting {
    private struct Ends {
        let source = IPv4Address(number: 0x0A00_0001)
        let destination = IPv4Address(number: 0x0A00_0002)
    }

    private static func build(_ packet: inout PacketBuilder, _ ends: Ends, _ number: Int, _ payload: [UInt8]) {
        packet.reset()
        packet.add(
            EthernetHeader(
                destination: MACAddress(bits: 0x0200_0000_0002), source: MACAddress(bits: 0x0200_0000_0001), type: .ipv4
            ))
        packet.add(
            IPv4Header(
                source: ends.source, destination: ends.destination, proto: .tcp,
                identification: UInt16(truncatingIfNeeded: number)))
        packet.add(
            TCPHeader(sourcePort: 4000, destinationPort: UInt16(truncatingIfNeeded: number), flags: .syn))
        if !payload.isEmpty { packet.add(payload: payload) }
    }

    /// Measures how fast packets are built. Each step reuses the previous packet, and overwrites two headers and the
    /// payload.
    ///
    /// The reference program does the same. It finds its headers by their tags.
    static func craft(payload: Int) {
        let bytes = [UInt8](repeating: 0x61, count: payload)
        var packet = PacketBuilder()
        let ends = Ends()
        build(&packet, ends, 0, bytes)
        var address = IPv4Header(source: ends.source, destination: ends.destination, proto: .tcp)
        var segment = TCPHeader(sourcePort: 4000, destinationPort: 0, flags: .syn)
        let count = 200_000
        let time = PacketGoals.best(count) {
            var total = 0
            for number in 0..<count {
                address.identification = UInt16(truncatingIfNeeded: number)
                segment.destinationPort = UInt16(truncatingIfNeeded: number)
                guard packet.replace(1, with: address), packet.replace(2, with: segment) else { return }
                if payload > 0, !packet.replace(3, with: bytes) { return }
                packet.finish()
                total &+= packet.count
            }
            PacketGoals.use(total)
        }
        PacketGoals.report("ns", time)
    }

    /// Measures the time to build each packet from scratch.
    static func craftFresh(payload: Int) {
        let bytes = [UInt8](repeating: 0x61, count: payload)
        var packet = PacketBuilder()
        let ends = Ends()
        let count = 200_000
        let time = PacketGoals.best(count) {
            var total = 0
            for number in 0..<count {
                build(&packet, ends, number, bytes)
                packet.finish()
                total &+= packet.count
            }
            PacketGoals.use(total)
        }
        PacketGoals.report("ns", time)
    }

    static func write(size: Int) {
        let file = open("/dev/null", O_WRONLY)
        defer { close(file) }
        let bytes = [UInt8](repeating: 0x61, count: size)
        let packet = CapturedPacket(
            time: CaptureTime(seconds: 1, microseconds: 2), originalCount: size, capturedCount: size,
            linkType: .ethernet)
        let writer = PcapWriter(linkType: .ethernet)
        let count = 500_000
        var buffer: [UInt8] = []
        buffer.reserveCapacity(70_000)
        let time = PacketGoals.best(count) {
            for _ in 0..<count {
                writer.append(packet, ByteView(bytes.span), to: &buffer)
                if buffer.count >= 65_536 {
                    PacketGoals.use(Glibc.write(file, buffer, buffer.count))
                    buffer.removeAll(keepingCapacity: true)
                }
            }
        }
        PacketGoals.report("ns", time)
    }

    static func inject(_ interface: String, count: Int, size: Int) throws {
        var packet = PacketBuilder()
        build(&packet, Ends(), 1, [UInt8](repeating: 0x61, count: max(0, size - 54)))
        let bytes = packet.finish()
        var injector = try PacketInjector(interface: interface)
        let clock = ContinuousClock()
        let taken = try clock.measure {
            for _ in 0..<count { try injector.add(bytes.span) }
            try injector.flush()
        }
        PacketGoals.report("kpps", Double(injector.sent) / (taken / .milliseconds(1)))
    }
}

/// Captures packets for some seconds while another program sends.
enum Live {
    static func capture(_ interface: String, seconds: Double, immediate: Bool) throws {
        var options = CaptureOptions(interface: interface)
        options.isImmediate = immediate
        options.filter = "ether proto 0x88B5"
        var capture = try PacketCapture(options)
        print("listening")
        fflush(nil)
        var (count, total) = (0, 0)
        var delays: [Int64] = []
        var layers = PacketLayers()
        let end = ContinuousClock.now + .seconds(seconds)
        var used = PacketGoals.processorTime()
        while ContinuousClock.now < end {
            _ = try capture.take(waitingMilliseconds: 20) { packet, bytes in
                if count == 0 { used = PacketGoals.processorTime() }
                layers.find(in: bytes, linkType: packet.linkType)
                total &+= layers.count
                count += 1
                if count % 64 == 0, let sent = try? bytes.u64(16) {
                    var now = timespec()
                    clock_gettime(CLOCK_MONOTONIC, &now)
                    delays.append(Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - Int64(sent))
                }
                return true
            }
        }
        used = PacketGoals.processorTime() - used
        PacketGoals.use(total)
        let statistics = capture.statistics()
        delays.sort()
        PacketGoals.report("packets", Double(count))
        PacketGoals.report("dropped", Double(statistics.droppedByKernel))
        PacketGoals.report("ns", used / Double(max(count, 1)) * 1e9)
        PacketGoals.report("p99ms", delays.isEmpty ? 0 : Double(delays[delays.count * 99 / 100]) / 1e6)
    }
}
