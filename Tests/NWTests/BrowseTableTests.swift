import CausewayTypes
import Testing

@testable import nw

/// Tests the table that `nw browse` shows on a terminal.
@Suite("Table of services")
struct BrowseTableTests {
    @Test("Columns are aligned, also below names of wide and combining characters")
    func aligned() {
        let names = ["NAME", "Printer", "プリンタ 3階", "e\u{301}te\u{301}", "👩‍👩‍👧 家"]
        let table = names.map { name in [PrintableText(foreign: name), "_ipp._tcp", "eth0"] }
        let lines = BrowseDisplay.lines(of: table).map(\.text)
        let columns = lines.map { line in
            line.firstIndex(of: "_").map { line[..<$0].columnCount }
        }
        #expect(columns == Array(repeating: 14, count: names.count))
        #expect(lines.allSatisfy { $0.hasSuffix("_ipp._tcp  eth0") })
    }
}
