import Foundation
import Testing

extension LoopbackInterop {
    /// Capture files that other programs write and read.
    ///
    /// Always uses the captures that `nw packet` makes, and every tenth capture of the test data next to the checkout, if present.
    @Suite(
        "Capture files", .enabled(if: ["tcpdump", "tshark", "editcap", "mergecap"].allSatisfy { Peer.find($0) != nil }))
    struct CaptureFileTests {
        /// The values that every program reports for a packet: time, original length and captured length.
        struct Seen: Equatable {
            var time: String
            var length: Int
            var kept: Int
        }

        @Test("tshark and tcpdump read the same packets that nw stores", arguments: ["pcap", "pcapng"])
        func ours(_ form: String) async throws {
            try await Scratch.run { scratch in
                for (number, source) in try await Self.sources(scratch).enumerated() {
                    let packets = try await Self.seenByUs(source, scratch)
                    let stored = scratch.directory.appendingPathComponent("stored\(number).\(form)").path
                    let writer = try scratch.startNW(["read", "-w", stored, source])
                    guard try await writer.finished() == 0 else {
                        #expect(writer.errors.contains("has one link type") && form == "pcap", "\(writer.errors)")
                        continue
                    }
                    #expect(try await Self.seenByTshark(stored, scratch) == packets, "tshark, \(source)")
                    let copy = scratch.directory.appendingPathComponent("copy\(number).pcap").path
                    let tcpdump = try scratch.startProgram("tcpdump", ["-nn", "-r", stored, "--nano", "-w", copy])
                    if try await tcpdump.finished() == 0 {
                        #expect(try await Self.seenByUs(copy, scratch) == packets, "tcpdump, \(source)")
                    } else {
                        // tcpdump cannot write a file for packets of several links.
                        #expect(Set(try await Self.links(stored, scratch)).count > 1, "\(source): \(tcpdump.errors)")
                    }
                }
            }
        }

        @Test(
            "nw reads the same packets that editcap writes", arguments: ["pcap", "nsecpcap", "modpcap", "pcapng"])
        func theirs(_ form: String) async throws {
            try await Scratch.run { scratch in
                for source in try await Self.sources(scratch) {
                    let written = scratch.directory.appendingPathComponent("written.\(form)").path
                    let editcap = try scratch.startProgram("editcap", ["-F", form, source, written])
                    // Skip this pair if `editcap` fails. Some formats cannot store packets from several links.
                    guard try await editcap.finished() == 0 else { continue }
                    let lengths = try await Self.seenByTshark(written, scratch).map(\.length)
                    #expect(try await Self.seenByUs(written, scratch).map(\.length) == lengths, "\(source)")
                    try FileManager.default.removeItem(atPath: written)
                }
            }
        }

        @Test("With packets of several links, pcap stores those before the first other link, and pcapng stores all")
        func severalLinks() async throws {
            try await Scratch.run { scratch in
                let source = try await Self.merged(try await Self.made(scratch), scratch)
                let stored = scratch.directory.appendingPathComponent("several.pcap").path
                let writer = try scratch.startNW(["read", "-w", stored, source])
                #expect(try await writer.finished() == 1)
                #expect(writer.errors.contains("has one link type") && writer.errors.contains(".pcapng"))
                let links = try await Self.links(source, scratch)
                let held = links.prefix { $0 == links.first }
                #expect(!held.isEmpty && held.count < links.count)
                #expect(try await Self.seenByTshark(stored, scratch).count == held.count)
            }
        }

        /// Returns one capture for each packet that `nw packet` makes, one merged capture, and some captures from the
        /// test data.
        private static func sources(_ scratch: Scratch) async throws -> [String] {
            let made = try await made(scratch)
            return try await made + [merged(made, scratch)] + others()
        }

        private static func made(_ scratch: Scratch) async throws -> [String] {
            let packets = [
                ["udp", "10.0.0.1:101", "--source", "10.0.0.2", "--source-port", "4321", "--data", "Hello"],
                ["tcp", "[2001:db8::1]:80", "--source", "2001:db8::2", "--source-port", "4321", "--flags", "S"],
                ["icmp", "10.0.0.1", "--source", "10.0.0.2", "--id", "9"],
                ["arp", "10.0.0.1", "--source", "10.0.0.2", "--source-mac", "02:00:00:00:00:01"],
            ]
            var files: [String] = []
            for packet in packets {
                let file = scratch.directory.appendingPathComponent("\(packet[0]).pcap").path
                let maker = try scratch.startNW(["packet"] + packet + ["-w", file])
                #expect(try await maker.finished() == 0, "\(maker.errors)")
                files.append(file)
            }
            return files
        }

        private static func merged(_ files: [String], _ scratch: Scratch) async throws -> String {
            let all = scratch.directory.appendingPathComponent("all.pcapng").path
            let mergecap = try scratch.startProgram("mergecap", ["-a", "-w", all] + files)
            #expect(try await mergecap.finished() == 0, "\(mergecap.errors)")
            return all
        }

        /// Captures of the tcpdump project, without those with invalid times, which every program interprets differently.
        private static func others() -> [String] {
            let checkout = (0..<5).reduce(URL(fileURLWithPath: #filePath)) { place, _ in
                place.deletingLastPathComponent()
            }
            let folder = checkout.appendingPathComponent("shared/data/packets/tcpdump")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            if names.isEmpty {
                print("SKIPPED: captures of other projects: no shared/data/packets next to this checkout")
            }
            let captures = names.filter { $0.hasSuffix(".pcap") && !$0.contains("timestamp_invalid") }.sorted()
            return stride(from: 0, to: captures.count, by: 10).map { folder.appendingPathComponent(captures[$0]).path }
        }

        private static func seenByUs(_ file: String, _ scratch: Scratch) async throws -> [Seen] {
            try await told(by: file, scratch).map {
                Seen(
                    time: try #require($0["time"] as? String), length: try #require($0["length"] as? Int),
                    kept: try #require($0["captured"] as? Int))
            }
        }

        private static func links(_ file: String, _ scratch: Scratch) async throws -> [String] {
            try await told(by: file, scratch).map { try #require($0["link"] as? String) }
        }

        private static func told(by file: String, _ scratch: Scratch) async throws -> [[String: Any]] {
            let nw = try scratch.startNW(["read", "--json", "--nano", file])
            #expect(try await nw.finished() == 0, "\(file): \(nw.errors)")
            return try nw.output.split(separator: UInt8(ascii: "\n")).map {
                try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
            }
        }

        private static func seenByTshark(_ file: String, _ scratch: Scratch) async throws -> [Seen] {
            let fields = ["frame.time_epoch", "frame.len", "frame.cap_len"].flatMap { ["-e", $0] }
            let tshark = try scratch.startProgram("tshark", ["-n", "-r", file, "-T", "fields"] + fields)
            #expect(try await tshark.finished() == 0, "\(file): \(tshark.errors)")
            return try String(decoding: tshark.output, as: UTF8.self).split(separator: "\n").map {
                let words = $0.split(separator: "\t")
                return Seen(
                    time: String(words[0]), length: try #require(Int(words[1])), kept: try #require(Int(words[2])))
            }
        }
    }
}
