import CausewayCapture
import Foundation
import Synchronization
import Testing

extension Interop {
    /// Tests captures to several files, and captures through the API.
    @Suite("Captures", .enabled(if: TwoHosts.isAvailable && Peer.find("tcpdump") != nil, "needs root, ip and tcpdump"))
    struct CaptureTests {
        /// Returns the number of packets in a file, counted by tcpdump.
        private static func count(_ file: URL, _ scratch: Scratch) async throws -> Int {
            let tcpdump = try scratch.startProgram("tcpdump", ["-n", "-r", file.path])
            #expect(try await tcpdump.finished() == 0, "\(tcpdump.errors)")
            return String(decoding: tcpdump.output, as: UTF8.self).split(separator: "\n").count
        }

        private static func capture(
            _ hosts: TwoHosts, _ scratch: Scratch, _ options: [String], pings: Int, size: Int
        ) async throws -> Child {
            let capture = try scratch.start(
                try Built.nw(), ["capture", "-i", TwoHosts.link] + options + ["icmp"], on: hosts.near)
            try await eventually("the capture begins") { capture.errors.contains("listening") }
            let ping = try scratch.start(
                try Built.nw(), ["ping", "-q", "-c", "\(pings)", "-i", "0.002", "-s", "\(size)", TwoHosts.far4],
                on: hosts.near)
            #expect(try await ping.finished() == 0, "\(ping.errors)")
            return capture
        }

        @Test(
            "A full file is followed by the next, and no packet is lost between them",
            arguments: ["pcap", "pcapng"])
        func sizes(_ form: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                let directory = try scratch.newDirectory("stored")
                let first = directory.appendingPathComponent("trace.\(form)")
                let capture = try await Self.capture(
                    hosts, scratch, ["-C", "1", "-c", "3000", "-w", first.path], pings: 1500, size: 1000)
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                #expect(capture.errors.contains("3000 packets captured"))
                let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
                #expect(names == ["trace.\(form)"] + (1...3).map { "trace.\(form)\($0)" })
                var total = 0
                for name in names {
                    let file = directory.appendingPathComponent(name)
                    #expect(try Data(contentsOf: file).count < 1_010_000)
                    total += try await Self.count(file, scratch)
                }
                #expect(total == 3000)
            }
        }

        @Test("A ring of files keeps the last ones")
        func ring() async throws {
            try await TwoHosts.run { hosts, scratch in
                let directory = try scratch.newDirectory("stored")
                let path = directory.appendingPathComponent("trace").path
                let capture = try await Self.capture(
                    hosts, scratch, ["-C", "1", "-W", "2", "-c", "3000", "-w", path], pings: 1500, size: 1000)
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
                #expect(names == ["trace0", "trace1"])
                // The capture has written four files in turn, but only two file names exist. A full file contains about
                // 950 packets. The fourth file has replaced an earlier file, and it is not full.
                let last = try await Self.count(directory.appendingPathComponent("trace1"), scratch)
                #expect((1..<900).contains(last))
                let full = try await Self.count(directory.appendingPathComponent("trace0"), scratch)
                #expect((900..<1000).contains(full))
            }
        }

        @Test("A ring of files whose names have the time removes the oldest ones, and never the file before")
        func timedRing() async throws {
            try await TwoHosts.run { hosts, scratch in
                let directory = try scratch.newDirectory("stored")
                let options = ["-C", "1", "-G", "3600", "-W", "2", "-c", "3000"]
                let capture = try await Self.capture(
                    hosts, scratch, options + ["-w", directory.appendingPathComponent("trace-%Y").path], pings: 1500,
                    size: 1000)
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
                #expect(names.count == 2 && names.last?.hasSuffix(".3") == true, "\(names)")
                var counts: [Int] = []
                for name in names {
                    counts.append(try await Self.count(directory.appendingPathComponent(name), scratch))
                }
                #expect(counts.count { (900..<1000).contains($0) } == 1 && !counts.contains(0), "\(counts)")
            }
        }

        @Test("A capture ends after the given number of files of the given duration")
        func ages() async throws {
            try await TwoHosts.run { hosts, scratch in
                let directory = try scratch.newDirectory("stored")
                let path = directory.appendingPathComponent("trace").path
                // The first file's time begins with the capture, so packets must already pass then.
                let ping = try scratch.start(
                    try Built.nw(), ["ping", "-c", "100000", "-i", "0.05", TwoHosts.far4], on: hosts.near)
                try await eventually("replies arrive: \(ping.errors)") { ping.text.contains(" time=") }
                let capture = try scratch.start(
                    try Built.nw(), ["capture", "-i", TwoHosts.link, "-G", "1", "-W", "2", "-w", path, "icmp"],
                    on: hosts.near)
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                try ping.interrupt()
                #expect(try await ping.finished() == 0, "\(ping.errors)")
                let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
                #expect(names == ["trace", "trace1"])
                for name in names {
                    #expect(try await Self.count(directory.appendingPathComponent(name), scratch) > 5)
                }
            }
        }

        @Test("A task receives packets as they pass, and leaving its loop ends the capture")
        func frames() async throws {
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .udp)
                var options = CaptureOptions(interface: "lo")
                options.filter = "udp dst port \(port)"
                options.isImmediate = true
                let frames = PacketFrames(options)
                let sender = Task {
                    // The capture misses packets that are sent before it starts. So send packets repeatedly.
                    while !Task.isCancelled {
                        Datagrams.send(Array("seen".utf8), toPort: port)
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
                defer { sender.cancel() }
                var count = 0
                for try await frame in frames {
                    #expect(Array(frame.bytes.suffix(4)) == Array("seen".utf8))
                    #expect(frame.packet.originalCount == frame.bytes.count && frame.packet.linkType == .ethernet)
                    count += 1
                    if count == 10 { break }
                }
                #expect(count == 10)
                try await eventually("the loss is reported") { frames.statistics.seen >= 10 }
                #expect(frames.statistics.droppedByKernel == 0 && frames.statistics.droppedUnread == 0)
            }
        }

        @Test("Two captures of a group share the packets: each packet reaches one of them")
        func fanOut() async throws {
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .udp)
                var options = CaptureOptions(interface: "lo")
                options.filter = "udp dst port \(port)"
                options.isImmediate = true
                options.fanOut = CaptureOptions.FanOut(group: .random(in: 1...UInt16.max), way: .turns)
                var one = try PacketCapture(options)
                var other = try PacketCapture(options)
                for number in UInt8(0)..<40 { Datagrams.send([number], toPort: port) }
                var (seenByOne, seenByOther): ([UInt8], [UInt8]) = ([], [])
                for _ in 0..<50 where seenByOne.count + seenByOther.count < 80 {
                    _ = try one.take(waitingMilliseconds: 20) { _, bytes in
                        seenByOne += bytes.array.suffix(1)
                        return true
                    }
                    _ = try other.take(waitingMilliseconds: 20) { _, bytes in
                        seenByOther += bytes.array.suffix(1)
                        return true
                    }
                }
                #expect(!seenByOne.isEmpty && !seenByOther.isEmpty)
                // On the loopback interface, a capture sees each packet twice: when it is sent and when it is received.
                #expect((seenByOne + seenByOther).sorted() == (0..<40).flatMap { [$0, $0] })
                #expect(one.statistics().droppedByKernel == 0)
            }
        }

        @Test(
            "Directions are filtered by the kernel, and in user space where the kernel cannot",
            arguments: ["", " or vlan"])
        func directions(_ more: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                for (word, type) in [("inbound", "reply"), ("outbound", "request")] {
                    let capture = try scratch.start(
                        try Built.nw(),
                        ["capture", "-i", TwoHosts.link, "-c", "3", "(icmp and \(word))\(more)"], on: hosts.near)
                    try await eventually("the capture begins") { capture.errors.contains("listening") }
                    let ping = try scratch.start(
                        try Built.nw(), ["ping", "-q", "-c", "4", "-i", "0.05", TwoHosts.far4], on: hosts.near)
                    #expect(try await ping.finished() == 0, "\(ping.errors)")
                    #expect(try await capture.finished() == 0, "\(capture.errors)")
                    let lines = String(decoding: capture.output, as: UTF8.self).split(separator: "\n")
                    #expect(lines.count == 3 && lines.allSatisfy { $0.contains("echo \(type)") }, "\(lines)")
                }
            }
        }

        @Test(
            "A full disk is reported, stored packets are intact, and lost packets are counted",
            arguments: ["pcap", "pcapng"])
        func fullDisk(_ form: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                let directory = try scratch.newDirectory("small")
                let mount = try scratch.startProgram(
                    "/usr/bin/env", ["mount", "-t", "tmpfs", "-o", "size=256k", "nw-full-disk", directory.path])
                #expect(try await mount.finished() == 0, "\(mount.errors)")
                do {
                    let file = directory.appendingPathComponent("trace.\(form)")
                    let capture = try await Self.capture(hosts, scratch, ["-w", file.path], pings: 500, size: 1000)
                    #expect(try await capture.finished() == 1)
                    let errors = capture.errors
                    #expect(errors.contains("No space left on device") && errors.contains(file.path), "\(errors)")
                    #expect(errors.contains("packets captured") && errors.contains("not stored"), "\(errors)")
                    // Check that the file is readable: tcpdump fails if the file ends within a packet.
                    #expect(try await Self.count(file, scratch) > 50)
                } catch {
                    _ = try? await scratch.startProgram("/usr/bin/env", ["umount", directory.path]).finished()
                    throw error
                }
                let unmount = try scratch.startProgram("/usr/bin/env", ["umount", directory.path])
                #expect(try await unmount.finished() == 0, "\(unmount.errors)")
            }
        }

        @Test("All injected packets arrive in order")
        func injection() async throws {
            let index = UInt8.random(in: 1...254)
            var options = CaptureOptions(interface: "lo")
            options.filter = "ether src 02:00:00:00:77:\(String(index, radix: 16)) and ether proto 0x88B5 and inbound"
            options.isImmediate = true
            var capture = try PacketCapture(options)
            var injector = try PacketInjector(interface: "lo")
            for number in 0..<200 {
                let frame: [UInt8] =
                    [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0x77, index, 0x88, 0xB5, UInt8(number)]
                    + [UInt8](repeating: 0, count: number)
                try injector.add(frame.span)
            }
            try injector.flush()
            #expect(injector.sent == 200)
            var seen: [UInt8] = []
            for _ in 0..<100 where seen.count < 200 {
                _ = try capture.take(waitingMilliseconds: 20) { packet, bytes in
                    #expect(packet.originalCount == 15 + seen.count)
                    seen += bytes.array[14...14]
                    return true
                }
            }
            #expect(seen == (0..<200).map { UInt8($0) })
            do {
                _ = try PacketInjector(interface: "no-such-link")
                Issue.record("there is no such interface")
            } catch { #expect(error.code == .noSuchInterface) }
        }

        @Test("An invalid interface or filter is reported before the capture starts")
        func errors() throws {
            do {
                _ = try PacketCapture(CaptureOptions(interface: "no-such-link"))
                Issue.record("there is no such interface")
            } catch { #expect(error.code == .noSuchInterface) }
            var options = CaptureOptions(interface: "lo")
            options.filter = "tcp port nowhere at all"
            do {
                _ = try PacketCapture(options)
                Issue.record("there is no such filter")
            } catch { #expect(error.code == .badFilter && error.description.contains("^")) }
        }
    }
}

/// Sends datagrams to this host.
private enum Datagrams {
    static func send(_ bytes: [UInt8], toPort port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
