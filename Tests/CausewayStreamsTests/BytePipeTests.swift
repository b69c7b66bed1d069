import Causeway
import Foundation
import Testing

@testable import CausewayStreams

@Suite("Pipes")
struct PipeTests {
    private func write(_ text: String, to pipe: BytePipe) -> Int {
        Data(text.utf8).withUnsafeBytes { pipe.write($0) }
    }

    private func read(_ limit: Int, from pipe: BytePipe) -> String {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = buffer.withUnsafeMutableBytes { pipe.read(into: $0) }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    @Test("A full pipe accepts no more until it is read")
    func bounds() {
        let pipe = BytePipe(capacity: 5)
        #expect(write("abcdefg", to: pipe) == 5 && pipe.room == 0 && pipe.count == 5)
        #expect(write("x", to: pipe) == 0)
        #expect(read(2, from: pipe) == "ab" && pipe.room == 2)
        #expect(write("xyz", to: pipe) == 2)
        #expect(read(100, from: pipe) == "cdexy")
        #expect(read(100, from: pipe) == "" && pipe.count == 0 && pipe.room == 5)
    }

    @Test("Many bytes pass in order, in pieces of any size")
    func order() {
        let pipe = BytePipe(capacity: 7)
        let text = (0..<2_000).map { "\($0) " }.joined()
        var (rest, result) = (Substring(text), "")
        var step = 0
        while result.utf8.count < text.utf8.count {
            step += 1
            rest = rest.dropFirst(write(String(rest.prefix(step % 10)), to: pipe))
            result += read(step % 6, from: pipe)
        }
        #expect(result == text)
    }

    @Test("The end follows the written bytes, and nothing is accepted after it")
    func end() {
        let pipe = BytePipe(capacity: 5)
        #expect(write("ab", to: pipe) == 2)
        pipe.finish()
        #expect(!pipe.isAtEnd && pipe.room == 0 && write("c", to: pipe) == 0)
        #expect(read(9, from: pipe) == "ab" && pipe.isAtEnd)
    }

    @Test("After a failure earlier bytes can be read; the first failure counts")
    func failure() {
        let pipe = BytePipe(capacity: 5)
        #expect(write("ab", to: pipe) == 2)
        pipe.fail(.posix(.ECONNRESET))
        pipe.fail(.posix(.EPIPE))
        #expect(pipe.failure == .posix(.ECONNRESET) && pipe.room == 0)
        #expect(read(9, from: pipe) == "ab" && !pipe.isAtEnd)
    }

    @Test("After the reader has closed, nothing is kept")
    func abandoned() {
        let pipe = BytePipe(capacity: 5)
        #expect(write("ab", to: pipe) == 2)
        pipe.abandon()
        #expect(pipe.count == 0 && pipe.room == 0 && write("c", to: pipe) == 0 && pipe.isAbandoned)
    }

    @Test("Every change is reported, and nothing else")
    func observers() {
        let pipe = BytePipe(capacity: 2)
        let calls = DispatchQueue(label: "calls")
        nonisolated(unsafe) var count = 0
        pipe.observe { calls.sync { count += 1 } }
        #expect(write("abc", to: pipe) == 2 && write("c", to: pipe) == 0)
        #expect(calls.sync { count } == 1)
        _ = read(9, from: pipe)
        _ = read(9, from: pipe)
        pipe.finish()
        #expect(calls.sync { count } == 3)
    }
}
