import Causeway
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Stream tasks: order, limits and ends (§15)")
struct StreamConversationTests {
    // MARK: Reads

    @Test("A read waits for its minimum, takes at most its maximum, and leaves the rest")
    func bounds() {
        var driver = StreamDriver()
        driver.read(3, 4, "a")
        driver.read(1, 2, "b")
        driver.arrive("12")
        #expect(driver.noticed == [])
        driver.arrive("34567")
        #expect(driver.noticed == ["a 1234", "b 56"])
        driver.read(1, 9, "c")
        driver.read(5, 0, "d")
        driver.read(-1, 5, "e")
        #expect(driver.noticed == ["a 1234", "b 56", "c 7", "d "])
        driver.arrive("8")
        #expect(driver.noticed.last == "e 8")
    }

    @Test("At the end of the stream a read completes with fewer bytes; later reads report the end")
    func end() {
        var driver = StreamDriver()
        driver.read(4, 8, "a")
        driver.arrive("12")
        driver.arrive("", isEnd: true)
        driver.read(1, 1, "b")
        #expect(driver.noticed == ["read closed", "a 12 end", "b - end"])
        // Only the receiving direction has ended. The task can still write.
        driver.write("x")
        driver.change { $0.closeWrite(at: $1) }
        #expect(driver.sent == "x.")
        #expect(driver.noticed.suffix(4) == ["wrote x", "write closed", "ended", "disconnected"])
        driver.read(1, 1, "c")
        #expect(driver.noticed.last == "c - end")
    }

    @Test("Only the read of the last byte reports the end")
    func lastByte() {
        var driver = StreamDriver()
        driver.arrive("1234", isEnd: true)
        for _ in 0..<3 { driver.read(1, 2) }
        #expect(driver.noticed == ["read closed", "read 12", "read 34 end", "read - end"])
    }

    @Test("The connection is read only while less than 64 KiB wait, or more if a read needs them")
    func backPressure() {
        var driver = StreamDriver()
        #expect(driver.wanted == 65_536)
        driver.arrive(String(repeating: "x", count: 65_536))
        #expect(driver.wanted == nil)
        driver.read(70_000, 70_000)
        #expect(driver.wanted == 4_464)
        driver.arrive(String(repeating: "x", count: 4_464))
        #expect(driver.noticed.count == 1 && driver.wanted == 65_536)
    }

    @Test("Bytes that were read are released, also while the peer keeps the buffer full")
    func releasesReadBytes() {
        var driver = StreamDriver()
        driver.arrive(String(repeating: "x", count: 65_536))
        for _ in 0..<512 {
            driver.read(1, 1_024)
            driver.arrive(String(repeating: "x", count: 1_024))
        }
        let buffer = driver.conversation.input.buffer
        // The buffer may contain unused bytes before its first index. They use memory too, so limit their number.
        #expect(buffer.count == 65_536 && buffer.startIndex <= 65_536)
    }

    @Test("A reset fails reads after the bytes that arrived, and ends the task")
    func reset() {
        var driver = StreamDriver()
        driver.read(1, 2, "a")
        driver.read(2, 9, "b")
        driver.read(1, 9, "c")
        driver.arrive("123", error: .posix(.ECONNRESET))
        #expect(driver.noticed == ["a 12", "b lost", "c lost", "ended lost", "aborted"])
        driver.read(1, 1, "d")
        driver.write("x")
        #expect(driver.noticed.suffix(2) == ["d lost", "wrote x lost"])
    }

    // MARK: Writes

    @Test("Writes are sent in pieces, one after the other; a read does not stop them")
    func writes() {
        var driver = StreamDriver()
        driver.processesAtOnce = false
        driver.read(1, 1)
        driver.write(String(repeating: "y", count: 300_000))
        driver.write("z")
        driver.change { $0.closeWrite(at: $1) }
        driver.write("late")
        #expect(driver.sent.count == 262_144)
        driver.process()
        #expect(driver.sent.count == 300_000)
        driver.process()
        driver.process()
        driver.process()
        #expect(driver.sent.hasSuffix("yz."))
        #expect(driver.noticed == ["wrote 300000", "wrote z", "write closed", "wrote late lost"])
    }

    @Test("A failed send fails all writes; bytes that arrived before can be read")
    func failedSend() {
        var driver = StreamDriver()
        driver.processesAtOnce = false
        driver.write("a")
        driver.write("b")
        driver.process(.posix(.EPIPE))
        #expect(driver.noticed == ["write closed", "wrote a lost", "wrote b lost"])
        driver.arrive("answer", error: .posix(.ECONNRESET))
        driver.read(1, 9)
        #expect(driver.noticed.suffix(3) == ["read answer", "ended lost", "aborted"])
    }

    // MARK: Limits

    @Test("The limit of a read runs from its turn on; after it, all reads fail and writes go on")
    func limits() {
        var driver = StreamDriver()
        driver.read(1, 9, "a", timeout: 10)
        driver.read(1, 9, "b", timeout: 10)
        driver.wait(8)
        driver.arrive("1")
        driver.wait(8)
        #expect(driver.noticed == ["a 1"])
        driver.wait(2)
        #expect(driver.noticed == ["a 1", "b timed out"])
        driver.arrive("2")
        driver.read(1, 9, "c")
        driver.write("x")
        #expect(driver.noticed.suffix(2) == ["c timed out", "wrote x"])
    }

    @Test("The limit of a write, and a limit before the connection is established")
    func writeLimit() {
        var driver = StreamDriver()
        driver.processesAtOnce = false
        driver.write("a", timeout: 1)
        driver.wait(1)
        #expect(driver.noticed == ["wrote a timed out"])
        var waiting = StreamDriver(isOpen: false)
        waiting.read(1, 1, timeout: 3)
        waiting.wait(3)
        #expect(waiting.noticed == ["read timed out"])
        waiting.open()
        waiting.write("b")
        #expect(waiting.noticed.last == "wrote b")
    }

    @Test("A suspended task reads and sends nothing, and its limits stop")
    func suspension() {
        var driver = StreamDriver()
        driver.read(1, 9, timeout: 10)
        driver.wait(6)
        driver.change { $0.setPaused(true, at: $1) }
        driver.wait(100)
        driver.write("x")
        driver.arrive("1")
        #expect(driver.noticed == [] && driver.sent == "" && driver.wanted == nil)
        driver.change { $0.setPaused(false, at: $1) }
        #expect(driver.noticed == ["read 1", "wrote x"])
        #expect(driver.wanted != nil)
        driver.read(1, 9, timeout: 5)
        driver.change { $0.setPaused(true, at: $1) }
        driver.change { $0.setPaused(false, at: $1) }
        driver.wait(5)
        #expect(driver.noticed.last == "read timed out")
    }

    // MARK: Changes of the connection

    @Test("TLS waits for earlier operations, and later ones wait for TLS")
    func secure() {
        var driver = StreamDriver()
        driver.read(4, 4, "a")
        driver.arrive("220")
        driver.change { $0.change(.secure, at: $1) }
        driver.write("later")
        #expect(driver.sent == "" && driver.handedOver == nil)
        driver.arrive(" ")
        #expect(driver.noticed == ["a 220 "] && driver.sent == "")
        #expect(driver.handedOver == "" && driver.wanted == nil)
        driver.change { $0.secured(nil, at: $1) }
        #expect(driver.sent == "later" && driver.wanted != nil)
        // If TLS is already in use, starting it again changes nothing.
        driver.change { $0.change(.secure, at: $1) }
        driver.write("!")
        #expect(driver.sent == "later!")
    }

    @Test("Bytes that no read took are part of the handshake, even if they are on their way", arguments: [true, false])
    func unreadBytes(_ recalls: Bool) {
        var driver = StreamDriver()
        driver.recalls = recalls
        driver.arrive("220early")
        driver.read(3, 3, "a")
        driver.change { $0.change(.secure, at: $1) }
        #expect(driver.handedOver == (recalls ? "early" : nil))
        if !recalls { driver.arrive("more") }
        #expect(driver.handedOver == (recalls ? "early" : "earlymore"))
        #expect(driver.noticed == ["a 220"])
    }

    @Test("A handshake that fails or takes too long ends the task")
    func failedHandshake() {
        var driver = StreamDriver(handshakeLimit: 30)
        driver.change { $0.change(.secure, at: $1) }
        driver.read(1, 1, timeout: 1)
        driver.wait(29)
        #expect(driver.noticed == [])
        driver.wait(1)
        #expect(driver.noticed == ["ended timed out", "read timed out", "aborted"])
        driver.change { $0.secured(nil, at: $1) }
        var other = StreamDriver()
        other.change { $0.change(.secure, at: $1) }
        other.change { $0.secured(LoadFailure(.handshakeFailed), at: $1) }
        #expect(other.noticed == ["ended insecure", "aborted"])
    }

    @Test("TLS after a closed direction, or after a read that ran out of time, fails the task")
    func noHandshake() {
        var driver = StreamDriver()
        driver.change { $0.closeWrite(at: $1) }
        driver.change { $0.change(.secure, at: $1) }
        #expect(driver.noticed == ["write closed", "ended insecure", "aborted"])
        var late = StreamDriver()
        late.read(1, 1, timeout: 1)
        late.change { $0.change(.secure, at: $1) }
        late.wait(1)
        #expect(late.noticed == ["read timed out", "ended timed out", "aborted"])
    }

    @Test("The conversion to streams hands over unread bytes and the end")
    func capture() {
        var driver = StreamDriver()
        driver.arrive("rest", isEnd: true)
        driver.change { $0.change(.capture, at: $1) }
        #expect(driver.handedOver == "rest.")
        driver.write("late")
        #expect(driver.noticed == ["read closed", "wrote late cancelled"])
    }

    // MARK: The end

    @Test("The end of the task fails all operations in the order of the calls")
    func cancelled() {
        var driver = StreamDriver(isOpen: false)
        driver.write("1")
        driver.read(1, 1, "2")
        driver.write("3")
        driver.change { $0.change(.secure, at: $1) }
        driver.read(1, 1, "4")
        driver.change { conversation, _ in conversation.end(LoadFailure(.cancelled).urlError(for: nil)) }
        #expect(
            driver.noticed == ["wrote 1 cancelled", "2 cancelled", "wrote 3 cancelled", "4 cancelled", "aborted"])
        driver.read(1, 1, "5")
        driver.arrive("late")
        driver.open()
        #expect(driver.noticed.last == "5 cancelled")
    }

    @Test("A cancellation after both directions ended does not abort the connection")
    func lateCancellation() {
        var conversation = StreamConversation()
        conversation.setPaused(false, at: .zero)
        conversation.opened(at: .zero)
        conversation.closeRead(at: .zero)
        conversation.closeWrite(at: .zero)
        conversation.sent(0, nil, at: .zero)
        conversation.end(LoadFailure(.cancelled).urlError(for: nil))
        guard case .disconnect(isInterrupted: false)? = conversation.actions.last else {
            Issue.record("the connection is aborted")
            return
        }
    }

    @Test("closeRead waits for earlier reads; with both directions closed the task ends")
    func closedRead() {
        var driver = StreamDriver()
        driver.read(1, 1, "a")
        driver.change { $0.closeRead(at: $1) }
        driver.arrive("12")
        #expect(driver.noticed == ["a 1", "read closed"] && driver.wanted == nil)
        driver.read(1, 1, "b")
        driver.change { $0.closeWrite(at: $1) }
        #expect(driver.noticed == ["a 1", "read closed", "b - end", "write closed", "ended", "disconnected"])
    }

    @Test("Random sequences of events end once and never trap", arguments: 0..<40)
    func sequences(_ seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ limit: UInt64) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % limit)
        }
        var driver = StreamDriver(handshakeLimit: 5, isOpen: random(2) == 0)
        driver.processesAtOnce = random(2) == 0
        driver.recalls = random(2) == 0
        for _ in 0..<60 {
            switch random(13) {
            case 0, 1: driver.read(random(4), random(6), timeout: Double(random(3)))
            case 2, 3: driver.write("w", timeout: Double(random(3)))
            case 4, 5: driver.arrive("abc", isEnd: random(12) == 0)
            case 6: driver.wait(Double(random(2)))
            case 7: if random(6) == 0 { driver.change { $0.closeWrite(at: $1) } }
            case 8: if random(6) == 0 { driver.change { $0.closeRead(at: $1) } }
            case 9: driver.change { $0.setPaused(state % 2 == 0, at: $1) }
            case 10: if random(4) == 0 { driver.change { $0.change(state % 3 == 0 ? .capture : .secure, at: $1) } }
            case 11: driver.change { $0.secured(nil, at: $1) }
            default: driver.open()
            }
        }
        driver.change { conversation, _ in conversation.end(nil) }
        #expect(driver.noticed.filter { $0.hasPrefix("ended") }.count <= 1)
    }
}
