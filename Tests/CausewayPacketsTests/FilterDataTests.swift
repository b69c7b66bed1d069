import Foundation
import Testing

@testable import CausewayPackets

/// The expressions of libpcap's tests, from the folder of test data.
@Suite("Filters from tests of other projects")
struct FilterDataTests {
    struct Suite: Decodable {
        struct Accepted: Decodable {
            var DLT: String
            var aliases: [String]
            var name: String
            var opt: String?
            var optunopt: String?
            var unopt: String?
        }
        struct Applied: Decodable {
            var expr: String
            var savefile: String
            var results: [Int]
            var name: String
            var netmask: String?
        }
        struct Rejected: Decodable {
            var DLT: String?
            var expr: String?
            var name: String
            var errstr: String
        }
        var accept: [Accepted]
        var apply: [Applied]
        var reject: [Rejected]
    }

    static func suite() throws -> Suite {
        try JSONDecoder().decode(Suite.self, from: Data(try PacketData.bytes("filters/filter-tests.json")))
    }

    static let linkTypes: [String: LinkType] = [
        "EN10MB": .ethernet, "RAW": .raw, "IPV4": .ipv4, "IPV6": .ipv6, "NULL": .null, "LOOP": .loop,
        "LINUX_SLL": .linuxCooked, "LINUX_SLL2": .linuxCooked2,
    ]

    private static func isLinux(_ text: String, _ type: LinkType) -> Bool {
        text.contains(type == .null ? "#0xa000000" : "#0xa ")
    }

    @Test func acceptedExpressionsCompileAndDecideAlike() throws {
        guard PacketData.required("filters to accept") != nil else { return }
        var byType: [LinkType: [(CapturedPacket, [UInt8])]] = [:]
        for file in try PacketData.captures("filters") + PacketData.captures("tcpdump") {
            for packet in PacketData.packets(try PacketData.bytes(file)).packets {
                byType[packet.0.linkType, default: []].append(packet)
            }
        }
        // The suite has no captures for these link types. The raw IP captures contain the same bytes, so use them.
        for type in [LinkType.ipv4, .ipv6, .null, .loop] { byType[type] = (byType[type] ?? []) + (byType[.raw] ?? []) }
        var (compiled, compared, refused) = (0, 0, [String]())
        for item in try Self.suite().accept {
            let type = try #require(Self.linkTypes[item.DLT])
            let text = item.optunopt ?? item.unopt ?? item.opt ?? ""
            // Skip entries that test how a filter program is printed. Also skip entries that test the address families
            // of other systems.
            if item.aliases.contains(where: { $0.hasPrefix("_") }) { continue }
            // In this library and in released versions of libpcap, IGRP is protocol 9. The development version of
            // libpcap uses the number of EIGRP instead. So skip these entries.
            if item.aliases[0] == "igrp" { continue }
            if type == .null || type == .loop, item.aliases[0].hasSuffix("ip6"), !Self.isLinux(text, type) { continue }
            if type == .null || type == .loop, text.contains("jeq"), item.aliases[0].hasSuffix("\\ip"),
                !text.contains(type == .null ? "#0x2000000" : "#0x2 ")
            {
                continue
            }
            // libpcap refuses expressions that its optimizer recognizes as matching nothing. This library must refuse
            // the same expressions.
            if item.opt == nil, item.optunopt == nil {
                #expect(throws: FilterError.self) { try PacketFilter(item.aliases[0], linkType: type) }
                continue
            }
            let expected = try #require(BPFText(text))
            for expression in item.aliases {
                if expression.lowercased().contains("libpcap.test") || expression.hasPrefix("_") { continue }
                do {
                    let filter = try PacketFilter(expression, linkType: type, FilterSettings.forTests)
                    compiled += 1
                    let packets = byType[type] ?? []
                    let different = packets.filter { packet, bytes in
                        filter.matches(ByteView(bytes.span), originalCount: packet.originalCount)
                            != (expected.run(bytes, packet.originalCount) != 0)
                    }
                    compared += packets.count
                    #expect(different.isEmpty, "\(item.DLT) \(expression): \(different.count) verdicts differ")
                } catch {
                    refused.append("\(item.DLT) \(expression): \(error)")
                }
            }
        }
        print("filters: \(compiled) compiled, \(compared) verdicts compared")
        #expect(refused.isEmpty, "\(refused.joined(separator: "\n"))")
    }

    @Test func appliedFiltersGiveTheExpectedVerdicts() throws {
        guard PacketData.required("filters to apply") != nil else { return }
        var (agreed, types) = (0, Set<String>())
        for item in try Self.suite().apply where !item.expr.contains("libpcap.test") {
            let packets = PacketData.packets(try PacketData.bytes("filters/\(item.savefile)")).packets
            let type = try #require(packets.first?.0.linkType)
            types.insert(type.name)
            var settings = FilterSettings()
            if item.netmask != nil { settings.netmask = 0xFFFF_FF00 }
            do {
                let filter = try PacketFilter(item.expr, linkType: type, settings)
                let verdicts = packets.prefix(item.results.count).map {
                    filter.matches(ByteView($0.1.span), originalCount: $0.0.originalCount)
                }
                #expect(verdicts == item.results.map { $0 != 0 }, "\(item.savefile) \(item.expr)")
                agreed += 1
            } catch {
                Issue.record("\(item.savefile) (\(type.name)) \(item.expr): \(error)")
            }
        }
        print("filters: \(agreed) with equal verdicts, of link types \(types.sorted())")
        #expect(types.count >= 9)
    }

    @Test func refusedExpressionsAreRefused() throws {
        guard PacketData.required("filters to refuse") != nil else { return }
        var (refused, accepted) = (0, [String]())
        for item in try Self.suite().reject {
            guard let expression = item.expr, let name = item.DLT, let type = Self.linkTypes[name] else { continue }
            do {
                _ = try PacketFilter(expression, linkType: type)
                accepted.append("\(name) \(expression) (\(item.errstr))")
            } catch {
                refused += 1
                #expect(error.position >= 0 && error.position <= expression.count)
            }
        }
        print("filters: \(refused) refused; accepted by mistake: \(accepted.count)")
        for line in accepted.prefix(40) { print("  accepted: \(line)") }
        #expect(refused * 100 >= 95 * (refused + accepted.count))
    }
}

extension FilterSettings {
    static var forTests: FilterSettings {
        var settings = FilterSettings()
        settings.netmask = 0xFFFF_FF00
        settings.isLive = true
        return settings
    }
}

/// A filter program in libpcap's text form. It runs as it would in the kernel.
struct BPFText {
    var program: FilterProgram

    init?(_ text: String) {
        var instructions: [FilterInstruction] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard words.count >= 2, words[0].hasPrefix("(") else { continue }
            guard let instruction = Self.instruction(words) else {
                print("not understood: \(line)")
                return nil
            }
            instructions.append(instruction)
        }
        program = FilterProgram(instructions: instructions)
    }

    func run(_ bytes: [UInt8], _ originalCount: Int) -> UInt32 {
        program.run(ByteView(bytes.span), originalCount: originalCount)
    }

    private static func number(_ text: String) -> UInt32? {
        var digits = text
        if digits.hasPrefix("#") { digits.removeFirst() }
        if digits.hasPrefix("0x") { return UInt32(digits.dropFirst(2), radix: 16) }
        return UInt32(digits)
    }

    private static func instruction(_ words: [String]) -> FilterInstruction? {
        typealias Code = FilterProgram.Code
        let operand =
            words.count > 2
            ? words[2...].joined(separator: " ").components(separatedBy: "jt")[0]
                .trimmingCharacters(in: .whitespaces) : ""
        let inside = operand.hasPrefix("[") ? String(operand.dropFirst().dropLast()) : nil
        func jump(_ code: UInt16) -> FilterInstruction? {
            guard let t = words.firstIndex(of: "jt"), let f = words.firstIndex(of: "jf"),
                let jt = Int32(words[t + 1]), let jf = Int32(words[f + 1])
            else { return nil }
            let viaX = operand == "x"
            return FilterInstruction(
                code: code | (viaX ? Code.viaX : 0), k: viaX ? 0 : number(operand) ?? 0, jt: jt, jf: jf)
        }
        switch words[1] {
        case "ld", "ldh", "ldb":
            let size = words[1] == "ld" ? 0 : words[1] == "ldh" ? 1 : 2
            if let inside {
                if inside.hasPrefix("x + ") {
                    return number(String(inside.dropFirst(4))).map {
                        FilterInstruction(code: [Code.loadWordAtX, Code.loadHalfAtX, Code.loadByteAtX][size], k: $0)
                    }
                }
                let k = number(inside) ?? (inside == "type" ? UInt32(FilterProgram.ancillary + 4) : nil)
                return k.map { FilterInstruction(code: [Code.loadWord, Code.loadHalf, Code.loadByte][size], k: $0) }
            }
            if operand == "#pktlen" { return FilterInstruction(code: Code.loadLength, k: 0) }
            if operand.hasPrefix("M[") {
                return FilterInstruction(
                    code: Code.loadScratch, k: number(String(operand.dropFirst(2).dropLast())) ?? 0)
            }
            return number(operand).map { FilterInstruction(code: Code.loadNumber, k: $0) }
        case "ldxb":
            let place = operand.components(separatedBy: "([")[1].components(separatedBy: "]")[0]
            return number(place).map { FilterInstruction(code: Code.xHeaderLength, k: $0) }
        case "ldx":
            if operand.hasPrefix("M[") {
                return FilterInstruction(code: Code.xScratch, k: number(String(operand.dropFirst(2).dropLast())) ?? 0)
            }
            return number(operand).map { FilterInstruction(code: 0x01, k: $0) }
        case "st": return FilterInstruction(code: Code.store, k: number(String(operand.dropFirst(2).dropLast())) ?? 0)
        case "stx": return FilterInstruction(code: 0x03, k: number(String(operand.dropFirst(2).dropLast())) ?? 0)
        case "tax": return FilterInstruction(code: Code.toX, k: 0)
        case "txa": return FilterInstruction(code: Code.fromX, k: 0)
        case "ret": return number(operand).map { FilterInstruction(code: Code.answer, k: $0) }
        case "ja": return number(operand).map { FilterInstruction(code: Code.jump, k: 0, jt: Int32($0), jf: Int32($0)) }
        case "jeq": return jump(Code.jumpEqual)
        case "jgt": return jump(Code.jumpGreater)
        case "jge": return jump(Code.jumpGreaterOrEqual)
        case "jset": return jump(Code.jumpAny)
        default: break
        }
        let operators: [String: FilterOperator] = [
            "add": .add, "sub": .subtract, "mul": .multiply, "div": .divide, "and": .and, "or": .or, "lsh": .left,
            "rsh": .right, "mod": .modulo, "xor": .xor,
        ]
        guard let operation = operators[words[1]] else { return nil }
        let viaX = operand == "x"
        return FilterInstruction(
            code: Code.arithmetic(operation) | (viaX ? Code.viaX : 0), k: viaX ? 0 : number(operand) ?? 0)
    }
}
