import CausewayTypes
import FoundationEssentials
import Testing

@testable import CausewayPackets

/// Calls and replies of NFS, as tcpdump 4.99 prints them.
@Suite("Lines of NFS")
struct NFSLineTests {
    struct Exchange: CustomTestStringConvertible, Sendable {
        var version: UInt32
        var procedure: UInt32
        var arguments: [UInt8]
        var results: [UInt8]
        var call: String
        var reply: String
        var testDescription: String { "v\(version) \(call)" }

        init(
            _ version: UInt32, _ procedure: UInt32, _ arguments: [UInt8], _ results: [UInt8], _ call: String,
            _ reply: String
        ) {
            (self.version, self.procedure, self.call, self.reply) = (version, procedure, call, reply)
            (self.arguments, self.results) = (arguments, results)
        }
    }

    static func words(_ values: UInt32...) -> [UInt8] { values.flatMap(bytes) }
    private static func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        stride(from: T.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> T($0)) }
    }
    private static func longs(_ values: UInt64...) -> [UInt8] { values.flatMap(bytes) }
    static func string(_ text: String) -> [UInt8] { opaque(Array(text.utf8)) }
    private static func opaque(_ content: [UInt8]) -> [UInt8] {
        words(UInt32(content.count)) + content + [UInt8](repeating: 0, count: -content.count & 3)
    }

    private static let old = [UInt8](1...32)
    static let handle = opaque([0xF0, 0xC8] + [UInt8](0...25))
    private static let fh2 = " fh Unknown/0102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F20"
    private static let fh = " fh Unknown/F0C8000102030405060708090A0B0C0D0E0F10111213141516171819"
    private static let name = string("file\u{1B}name")
    private static let seen = " \"file^[name\""
    private static let wanted = words(1, 0o644, 1, 1000, 1, 100, 1) + longs(77) + words(2, 11, 12, 2, 13, 14)

    private static func attributes(_ type: UInt32) -> [UInt8] {
        words(type, 0o100644, 2, 1000, 100) + longs(12345, 16384) + words(8, 1) + longs(0xABC, 0x1234)
            + words(1, 2, 3, 4, 5, 6)
    }
    private static let oldAttributes = words(
        1, 0o100644, 2, 1000, 100, 12345, 4096, 0x801, 16, 0xABC, 0x1234, 1, 2, 3, 4, 5, 6)
    private static let file = words(1) + attributes(1)
    private static let change = words(1) + longs(100) + words(21, 22, 23, 24) + words(1) + attributes(2)
    private static let short = "REG 100644 ids 1000/100 sz 12345"
    private static let rest =
        " nlink 2 rdev 8/1 fsid abc fileid 1234 a/m/ctime 1.000002 3.000004 5.000006"
    private static let regular = " \(short)\(rest)"
    private static let directory = " DIR 100644 ids 1000/100 sz 12345\(rest)"
    private static let changed = " PRE: sz 100 mtime 21.000022 ctime 23.000024 POST:\(directory)"
    private static let oldRegular =
        " \(short) nlink 2 rdev 0x801 fsid 0xabc nodeid 0x1234 a/m/ctime 1.000002 3.000004 5.000006"

    static let second: [Exchange] = [
        Exchange(2, 0, [], [], "null", "null"), Exchange(2, 3, [], [], "nop", "nop"),
        Exchange(2, 26, [], [], "proc-26", "proc-26"),
        Exchange(2, 1, old, words(0) + oldAttributes, "getattr\(fh2)", "getattr \(short)"),
        Exchange(2, 1, old, words(70), "getattr\(fh2)", "getattr ERROR: Stale NFS file handle"),
        Exchange(2, 4, old + name, words(0) + old + oldAttributes, "lookup\(fh2)\(seen)", "lookup\(fh2)\(oldRegular)"),
        Exchange(2, 5, old, words(0) + string("to"), "readlink\(fh2)", "readlink \"to\""),
        Exchange(
            2, 6, old + words(4096, 512, 0), words(0) + oldAttributes, "read\(fh2) 512 bytes @ 4096",
            "read\(oldRegular)"),
        Exchange(
            2, 8, old + words(1, 2, 3, 5, 0, 0), words(28), "write\(fh2) 5 (3) bytes @ 2 (1)",
            "write ERROR: No space left on device"),
        Exchange(
            2, 11, old + name + old + string("b"), words(0), "rename\(fh2)\(seen) ->\(fh2) \"b\"", "rename"),
        Exchange(
            2, 13, old + name + string("to"), words(777), "symlink\(fh2)\(seen) ->\"to\"", "symlink ERROR: unk 777"),
        Exchange(
            2, 16, old + words(0xFFFF_FFFF, 512), words(0, 1, 7, 1), "readdir\(fh2) 512 bytes @ 4294967295",
            "readdir offset 0x1 size 7  eof"),
        Exchange(
            2, 17, old, words(0, 8192, 4096, 1000, 500, 400), "fsstat\(fh2)",
            "fsstat tsize 8192 bsize 4096 blocks 1000 bfree 500 bavail 400"),
    ]

    static let third: [Exchange] = [
        Exchange(3, 22, handle, words(0), "proc-22", "proc-22"),
        Exchange(
            3, 1, handle, words(0) + attributes(9), "getattr\(fh)", "getattr unk-ft 9  100644 ids 1000/100 sz 12345"),
        Exchange(3, 2, handle + wanted + words(0), words(0) + change, "setattr\(fh)", "setattr\(changed)"),
        Exchange(
            3, 3, handle + name, words(0) + handle + file + file, "lookup\(fh)\(seen)",
            "lookup\(fh)\(regular) post dattr:\(regular)"),
        Exchange(
            3, 3, handle + name, words(2, 0), "lookup\(fh)\(seen)",
            "lookup ERROR: No such file or directory post dattr:"),
        Exchange(
            3, 4, handle + words(0x1F), words(0) + file + words(0x1F),
            "access\(fh) NFS_ACCESS_READ|NFS_ACCESS_LOOKUP|NFS_ACCESS_MODIFY|NFS_ACCESS_EXTEND|NFS_ACCESS_DELETE",
            "access attr:\(regular) c 001f"),
        Exchange(
            3, 4, handle + words(0x3F), words(13, 0), "access\(fh) NFS_ACCESS_FULL",
            "access ERROR: Permission denied attr:"),
        Exchange(
            3, 5, handle, words(0) + file + string("/target"), "readlink\(fh)", "readlink\(regular) \"/target\""),
        Exchange(
            3, 6, handle + longs(1 << 33) + words(4096), words(0) + file + words(33, 1),
            "read\(fh) 4096 bytes @ 8589934592", "read\(regular) 33 bytes EOF"),
        Exchange(
            3, 7, handle + longs(5) + words(3, 2) + string("abc"),
            words(0) + change + words(3, 1) + longs(0xDEAD_BEEF_CAFE), "write\(fh) 3 (3) bytes @ 5 <filesync>",
            "write\(changed) 3 bytes <datasync> verf deadbeefcafe"),
        Exchange(
            3, 8, handle + name + words(0) + wanted, words(0, 1) + handle + file + change, "create\(fh)\(seen)",
            "create\(fh)\(regular) dir attr:\(changed)"),
        Exchange(3, 9, handle + name + wanted, words(0, 0) + file + change, "mkdir\(fh)\(seen)", "mkdir"),
        Exchange(
            3, 10, handle + name + words(0, 0, 0, 0, 0, 0) + string("to"), words(17) + change,
            "symlink\(fh)\(seen) ->\"to\"", "symlink ERROR: File exists\(changed)"),
        Exchange(
            3, 11, handle + name + words(4) + wanted + words(8, 3), words(10007, 0, 0),
            "mknod\(fh)\(seen) CHR 8/3 mode 644 uid 1000 gid 100 atime 11.000012 mtime 13.000014",
            "mknod ERROR: Object of that type not supported PRE: POST:"),
        Exchange(
            3, 14, handle + name + handle + string("new"), words(0) + change + change,
            "rename\(fh)\(seen) ->\(fh) \"new\"", "rename from:\(changed) to:\(changed)"),
        Exchange(
            3, 15, handle + handle + name, words(0) + file + change, "link\(fh) ->\(fh)\(seen)",
            "link file POST:\(regular) dir:\(changed)"),
        Exchange(
            3, 17, handle + longs(9, 0x1122_3344_5566_7788) + words(512, 1024), words(0) + file + longs(0x99),
            "readdirplus\(fh) 512 bytes @ 9 max 1024 verf 1122334455667788",
            "readdirplus POST:\(regular) verf 0000000000000099"),
        Exchange(
            3, 18, handle, words(0, 0) + longs(1, 2, 3, 4, 5, 6) + words(7), "fsstat\(fh)",
            "fsstat POST: tbytes 1 fbytes 2 abytes 3 tfiles 4 ffiles 5 afiles 6 invar 7"),
        Exchange(
            3, 19, handle, words(0, 0, 1, 2, 3, 4, 5, 6, 7) + longs(1 << 40) + words(1, 2, 27), "fsinfo\(fh)",
            "fsinfo POST: rtmax 1 rtpref 2 wtmax 4 wtpref 5 dtpref 7 rtmult 3 wtmult 6 maxfsz 1099511627776 delta 1.000002 "
        ),
        Exchange(
            3, 20, handle, words(0, 0, 32000, 255, 1, 1, 0, 1), "pathconf\(fh)",
            "pathconf POST: linkmax 32000 namemax 255 notrunc chownres  keepcase"),
        Exchange(
            3, 21, handle + longs(1) + words(2), words(0) + change + longs(7), "commit\(fh) 2 bytes @ 1",
            "commit\(changed) verf 7"),
        // This row's text is not from tcpdump. tcpdump decodes an NFS version 4 compound as a version 2 getattr.
        Exchange(
            4, 1, string("tag") + words(0, 1, 24), words(10004) + string("tag"), "compound",
            "compound ERROR: Operation not supported"),
    ]

    static func call(_ exchange: Exchange, transaction: UInt32 = 7) -> [UInt8] {
        words(transaction, 0, 2, 100_003, exchange.version, exchange.procedure, 1, 8, 0, 0, 0, 0) + exchange.arguments
    }
    static func reply(_ results: [UInt8], status: UInt32 = 0, transaction: UInt32 = 7) -> [UInt8] {
        words(transaction, 1, 0, 0, 4, 0xAABB_CCDD, status) + results
    }

    static func packet(_ message: [UInt8], isCall: Bool, overTCP: Bool = false) -> [UInt8] {
        var packet = PacketBuilder()
        let (client, server) = (FilterEncapsulationTests.here, FilterEncapsulationTests.there)
        let (source, destination): (UInt16, UInt16) = isCall ? (800, 2049) : (2049, 800)
        packet.add(
            IPv4Header(
                source: isCall ? client : server, destination: isCall ? server : client, proto: overTCP ? .tcp : .udp))
        if overTCP {
            packet.add(TCPHeader(sourcePort: source, destinationPort: destination, flags: [.psh, .ack]))
            packet.add(payload: words(0x8000_0000 | UInt32(message.count)) + message)
        } else {
            packet.add(UDPHeader(sourcePort: source, destinationPort: destination))
            packet.add(payload: message)
        }
        return packet.finish()
    }

    /// Returns the printed line without the addresses at its start.
    static func text(_ printer: inout PacketPrinter, _ packet: [UInt8]) -> String {
        let described = CapturedPacket(
            time: CaptureTime(seconds: 0, microseconds: 0), originalCount: packet.count, capturedCount: packet.count,
            linkType: .raw)
        let line = String(decoding: printer.line(described, ByteView(packet.span)), as: UTF8.self)
        guard let place = line.range(of: "NFS") else { return line }
        return String(line[place.lowerBound...].dropLast())
    }

    private static func printer(verbosity: Int = 2) -> PacketPrinter {
        var options = PacketPrinter.Options()
        options.verbosity = verbosity
        options.time = .none
        return PacketPrinter(options)
    }

    @Test("Each procedure, called and answered, over UDP and TCP", arguments: second + third)
    func bothWays(_ exchange: Exchange) {
        for overTCP in [false, true] {
            var printer = Self.printer()
            let (call, reply) = (Self.call(exchange), Self.reply(exchange.results))
            let asked = Self.text(&printer, Self.packet(call, isCall: true, overTCP: overTCP))
            #expect(asked == "NFS request xid 7 \(call.count) \(exchange.call)")
            let answered = Self.text(&printer, Self.packet(reply, isCall: false, overTCP: overTCP))
            #expect(answered == "NFS reply xid 7 reply ok \(reply.count) \(exchange.reply)")
        }
    }

    @Test("A reply whose call was not seen, or was another host's, tells its length alone")
    func unknownCall() {
        var printer = Self.printer()
        let exchange = Self.third[1]
        let reply = Self.packet(Self.reply(exchange.results), isCall: false)
        #expect(Self.text(&printer, reply) == "NFS reply xid 7 reply ok 116")
        _ = Self.text(&printer, Self.packet(Self.call(exchange, transaction: 8), isCall: true))
        #expect(Self.text(&printer, reply) == "NFS reply xid 7 reply ok 116")
    }

    static let refusals: [([UInt8], String)] = [
        (words(7, 1, 1, 1, 5), "reply ERR 20: Auth Credentials are too weak"),
        (words(7, 1, 1, 1, 8), "reply ERR 20: Auth Invalid failure code 8"),
        (words(7, 1, 1, 0, 2, 3), "reply ERR 24: RPC Version mismatch (2-3)"),
        (words(7, 1, 1, 2), "reply ERR 16: Unknown reason for rejecting rpc message 2"),
        (words(7, 1, 2), "reply Unknown rpc response code=2 12"),
        (reply([], status: 1), "reply ok 28 getattr PROG_UNAVAIL"),
        (reply([], status: 5), "reply ok 28 getattr SYSTEM_ERR"),
        (reply([], status: 6), "reply ok 28 getattr ar_stat 6"),
        (words(7, 1, 0, 0, 0xFFFF_FFF0), "reply ok 20 getattr [|nfs]"),
        (words(7, 1), "[|nfs]"),
    ]

    @Test("What a server refuses, and why", arguments: refusals)
    func refusal(message: [UInt8], expected: String) {
        var printer = Self.printer()
        _ = Self.text(&printer, Self.packet(Self.call(Self.third[1]), isCall: true))
        let text = Self.text(&printer, Self.packet(message, isCall: false))
        #expect(text == "NFS reply xid 7 \(expected)" || text == "NFS reply xid 7  \(expected)")
    }

    static let wrongLengths: [([UInt8], String)] = [
        (words(7, 0, 2, 100_003, 3, 1, 1, 65536), "48 getattr [credentials length 65536 > 48] (invalid) [|nfs]"),
        (words(7, 0, 2, 100_003, 3, 1, 1, 0, 1, 99), "56 getattr [verifier length 99 > 56] (invalid) [|nfs]"),
        (
            words(7, 0, 2, 100_003, 3, 3, 1, 0, 0, 0, 0, 0xFFFF_FFFE),
            "64 lookup fh Unknown/ [cannot pad to 32-bit boundaries] (invalid) [|nfs]"
        ),
        (words(7, 0, 2, 100_003, 3, 3, 1, 0, 0, 0, 0, 300), "64 lookup fh Unknown/  [|nfs]"),
        (words(7, 0, 2, 100_003, 3, 3, 1, 0, 0, 0, 0xFFFF_FFFF), "60 lookup [|nfs]"),
        (words(7, 0, 2, 100_003), "16 [|nfs]"),
    ]

    @Test("Lengths that lead outside", arguments: wrongLengths)
    func wrongLength(message: [UInt8], expected: String) {
        var printer = Self.printer()
        // Append four words of zeros, so that the message is longer than its damaged part.
        let padded = message.count > 16 ? message + Self.words(0, 0, 0, 0) : message
        let text = Self.text(&printer, Self.packet(padded, isCall: true))
        #expect(text == "NFS request xid 7 \(expected)")
    }

    @Test("Truncated and damaged, every message still gives one line of visible text", arguments: second + third)
    func damage(_ exchange: Exchange) {
        let (call, reply) = (Self.packet(Self.call(exchange), isCall: true), Self.reply(exchange.results))
        let answer = Self.packet(reply, isCall: false, overTCP: true)
        var random = Mutations(seed: UInt64(call.count))
        for verbosity in 0...2 {
            var printer = Self.printer(verbosity: verbosity)
            for length in 1...max(call.count, answer.count) {
                for bytes in [call, answer] {
                    let text = Self.text(&printer, Array(bytes.prefix(length)))
                    #expect(!text.isEmpty && !text.contains("\u{1B}"))
                }
            }
            for _ in 0..<100 {
                for bytes in [call, answer] {
                    #expect(!Self.text(&printer, MutationTests.mutated(bytes, &random)).contains("\u{1B}"))
                }
            }
        }
    }
}
