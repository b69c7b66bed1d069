@testable import CausewayHTTPProtocols
import Testing

@Suite("Offline queue: the table of operations")
struct OperationTableTests {
    @Test("A snapshot restores the operations, their order and the reports")
    func snapshot() throws {
        var table = OperationTable(reportLimit: 2)
        for id in 1...3 { table.insert(operation(UInt64(id)), .waiting) }
        let isMoved = try table.move(3, before: 1)
        #expect(isMoved)
        table.remove(2)
        table.keep(StoredReport(operation(2), .unknown, at: 5))
        var restored = OperationTable(reportLimit: 2)
        for record in table.snapshot { restored.apply(record) }
        #expect(restored.operations.map(\.operation.id) == [3, 1])
        #expect(restored.reports == table.reports)
        #expect(restored.lastID == 3)
        #expect(restored.storedByteCount == table.storedByteCount)
    }

    @Test("Operations that are too old expire in order, and the next expiry is that of the others")
    func expiry() {
        var table = OperationTable(reportLimit: 1)
        for (id, age) in [(1, 50), (2, 20), (3, 10)] as [(UInt64, Int64)] {
            table.insert(operation(id, maximumAge: age), .waiting)
        }
        #expect(table.nextExpiry == 10)
        let expired = table.expired(at: 20)
        #expect(expired == [2, 3])
        #expect(table.nextExpiry == 50)
    }

    @Test("Only the newest reports are kept")
    func reports() {
        var table = OperationTable(reportLimit: 2)
        for id in 1...3 { table.keep(StoredReport(operation(UInt64(id)), .unknown, at: 0)) }
        #expect(table.reports.map(\.id) == [2, 3])
        let wasKept = table.acknowledge(2)
        #expect(wasKept)
        #expect(table.reports.map(\.id) == [3])
    }
}
