import Foundation
import Testing

@testable import CausewayImages

@Suite("Image decoder program")
struct DecoderProgramTests {
    @Test("The decoder program needs no library but that of C, and has no search path for libraries")
    func libraries() throws {
        let program = try ProgramHeader(contentsOf: URL(fileURLWithPath: DecoderProgram.path(nil)))
        #expect(!program.hasSearchPath)
        #expect(program.libraries.allSatisfy { $0.hasPrefix("libc.") })
        #expect(!program.libraries.isEmpty)
    }
}

/// The libraries that a program needs at its start, read from its dynamic section (ELF, 64 bits).
struct ProgramHeader {
    private(set) var libraries: [String] = []
    /// Whether the program's file contains a search path for its libraries.
    private(set) var hasSearchPath = false

    private enum Failure: Error { case noProgram }

    private enum Tag {
        static let needed = 1
        static let strings = 5
        static let path = 15
        static let runPath = 29
    }

    init(contentsOf file: URL) throws {
        let bytes = try [UInt8](Data(contentsOf: file))
        func value(_ offset: Int, _ count: Int) throws -> Int {
            guard offset >= 0, offset + count <= bytes.count else { throw Failure.noProgram }
            return bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { throw Failure.noProgram }
        let (table, size, count) = (try value(32, 8), try value(54, 2), try value(56, 2))
        let segments = try (0..<count).map { index in
            let start = table + index * size
            return (
                type: try value(start, 4), offset: try value(start + 8, 8), address: try value(start + 16, 8),
                byteCount: try value(start + 32, 8)
            )
        }
        guard let section = segments.first(where: { $0.type == 2 }) else { return }
        let entries = try (0..<(section.byteCount / 16)).map { index in
            (tag: try value(section.offset + index * 16, 8), value: try value(section.offset + index * 16 + 8, 8))
        }
        let strings = entries.first { $0.tag == Tag.strings }?.value ?? 0
        guard
            let home = segments.first(where: {
                $0.type == 1 && strings - $0.address < $0.byteCount && strings >= $0.address
            })
        else { throw Failure.noProgram }
        let start = strings - home.address + home.offset
        hasSearchPath = entries.contains { $0.tag == Tag.path || $0.tag == Tag.runPath }
        libraries = entries.filter { $0.tag == Tag.needed }.map { entry in
            String(decoding: bytes[min(start + entry.value, bytes.count)...].prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
