import Testing

@testable import CausewayTLS

@Suite("Early data")
struct EarlyDataTests {
    private func append(_ bytes: [UInt8], to data: inout EarlyData) { bytes.withUnsafeBytes { data.appendOutput($0) } }

    @Test("A client's content is kept until it is taken")
    func output() {
        var data = EarlyData.none
        #expect(data.outputCount == 0 && data.takeOutput().isEmpty)
        append([1, 2], to: &data)
        append([3], to: &data)
        #expect(data.outputCount == 3)
        #expect(data.takeOutput() == [1, 2, 3])
        #expect(data.outputCount == 0)
    }

    @Test("A server's input is readable only when it is complete, in parts of any length")
    func input() {
        var data = EarlyData.receiving([])
        var buffer = [UInt8](repeating: 0, count: 3)
        data.appendInput([1, 2])
        data.appendInput([3, 4, 5])
        let early = buffer.withUnsafeMutableBytes { data.takeInput(into: $0) }
        #expect(early == nil)
        data.endInput()
        data.appendInput([6])
        let first = buffer.withUnsafeMutableBytes { data.takeInput(into: $0) }
        #expect(first == 3 && buffer == [1, 2, 3])
        let second = buffer.withUnsafeMutableBytes { data.takeInput(into: $0) }
        #expect(second == 2 && buffer.prefix(2) == [4, 5])
        let third = buffer.withUnsafeMutableBytes { data.takeInput(into: $0) }
        #expect(third == nil)
    }
}
