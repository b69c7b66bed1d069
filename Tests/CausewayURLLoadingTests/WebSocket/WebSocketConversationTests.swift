import Causeway
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("The conversation of a WebSocket task")
struct WebSocketConversationTests {
    // MARK: Messages

    @Test("Operations before the handshake wait, then run in order")
    func early() {
        var driver = ConversationDriver(isOpen: false)
        driver.receive()
        driver.receive()
        for text in ["one", "two"] { driver.send(text) }
        driver.ping()
        #expect(driver.noticed.isEmpty)
        driver.open()
        #expect(driver.heard == ["one", "two"])
        for text in ["a", "b", "c"] { driver.serverSends(text) }
        #expect(driver.noticed == ["sent one", "sent two", "pong", "text a", "text b"])
        driver.receive()
        #expect(driver.noticed.last == "text c")
    }

    @Test("Text, binary and empty messages, in pieces of one byte", arguments: [1, .max])
    func kinds(_ pieceLimit: Int) {
        var driver = ConversationDriver()
        driver.pieceLimit = pieceLimit
        driver.serverSends("Grüße")
        driver.serverSends(.binary, [UInt8](repeating: 7, count: 300))
        driver.serverSends("")
        driver.serverSends(.binary, [])
        for _ in 0..<4 { driver.receive() }
        #expect(driver.noticed == ["text Grüße", "data 300", "text ", "data 0"])
        driver.conversation.send(.data(Data(count: 70_000))) { _ in }
        driver.settle()
        #expect(driver.heard == ["data 70000"])
    }

    @Test("A message is sent when the network has processed it; 128 KiB are in progress at most")
    func sending() {
        var driver = ConversationDriver()
        driver.processesAtOnce = false
        let long = String(repeating: "x", count: 100_000)
        for text in [long, "b", long, "c"] { driver.send(text) }
        #expect(driver.noticed.isEmpty)
        #expect(
            driver.unprocessed.reduce(0, +) < WebSocketConversation.outputLimit + WebSocketConversation.pieceSize + 14)
        driver.process()
        #expect(driver.noticed == ["sent \(long)", "sent b"])
        driver.process()
        #expect(driver.noticed.suffix(2) == ["sent \(long)", "sent c"])
        #expect(driver.heard == [long, "b", long, "c"])
    }

    @Test("The connection is not read while 64 KiB wait for the program", arguments: [0, 1_000, 100_000])
    func backPressure(_ size: Int) {
        var driver = ConversationDriver()
        let count = 10 + 1_000_000 / (size + 20)
        for _ in 0..<count { driver.serverSends(.binary, [UInt8](repeating: 1, count: size)) }
        #expect(driver.wanted == nil)
        #expect(driver.deliveredCount <= WebSocketConversation.unreadLimit + 2 * WebSocketConversation.pieceSize)
        for _ in 0..<count { driver.receive() }
        #expect(driver.noticed == [String](repeating: "data \(size)", count: count))
        #expect(driver.wanted != nil)
    }

    @Test("A suspended task neither reads nor sends")
    func suspended() {
        var driver = ConversationDriver()
        driver.conversation.setPaused(true)
        driver.send("a")
        driver.receive()
        driver.serverSends("b")
        driver.serverSends("c")
        // One receive call was already pending and gets these bytes. The conversation does not decode them while it is
        // paused.
        #expect(driver.heard.isEmpty && driver.noticed.isEmpty && driver.wanted == nil)
        driver.conversation.setPaused(false)
        driver.settle()
        #expect(driver.heard == ["a"])
        #expect(driver.noticed == ["text b", "sent a"])
    }

    @Test("Pings are answered in order, and the pings of the server too")
    func pings() {
        var driver = ConversationDriver()
        driver.ping()
        driver.ping()
        #expect(driver.noticed == ["pong", "pong"])
        driver.server.sendPing([1, 2])
        driver.settle()
        #expect(driver.heard == ["pong"])
    }

    // MARK: Ends

    // Limits on message size: RFC 6455 §10.4.
    @Test("A message of the maximum size is received; one byte more ends the task with EMSGSIZE", arguments: [0, 1])
    func size(_ excess: Int) {
        var driver = ConversationDriver()
        driver.conversation.limitMessages(to: 10)
        driver.receive()
        driver.serverSends(.binary, [UInt8](repeating: 1, count: 10 + excess))
        guard excess > 0 else {
            #expect(driver.noticed == ["data 10"])
            return
        }
        #expect(driver.noticed == ["end EMSGSIZE", "none EMSGSIZE", "disconnect"])
        #expect(driver.heard == ["close 1009 "])
        #expect(driver.conversation.closing == nil)
        driver.receive()
        #expect(driver.noticed.last == "none EMSGSIZE")
    }

    @Test("The default maximum size is 1 MiB")
    func defaultSize() {
        var driver = ConversationDriver()
        driver.receive()
        driver.serverSends(.binary, [UInt8](repeating: 1, count: 1 << 20))
        driver.receive()
        driver.serverSends(.binary, [UInt8](repeating: 1, count: 1 << 20 + 1))
        #expect(driver.noticed == ["data 1048576", "end EMSGSIZE", "none EMSGSIZE", "disconnect"])
    }

    @Test("The server closes: earlier messages are received, later operations fail with ENOTCONN")
    func closedByServer() {
        var driver = ConversationDriver()
        driver.serverSends("last")
        driver.serverCloses(4001, "enough")
        #expect(driver.noticed == ["closed 4001 enough", "end"])
        #expect(driver.heard == ["close 4001 "])
        #expect(ConversationDriver.text(driver.conversation.closing) == "4001 enough")
        driver.receive()
        driver.receive()
        driver.send("late")
        driver.ping()
        #expect(
            driver.noticed.suffix(4) == ["text last", "none ENOTCONN", "sent late ENOTCONN", "pong ENOTCONN"])
        driver.end()
        #expect(driver.noticed.last == "disconnect")
    }

    @Test("A close frame without a code is reported as 1005")
    func closedWithoutCode() {
        var driver = ConversationDriver()
        driver.receive()
        driver.serverCloses(nil)
        #expect(driver.noticed == ["closed 1005 ", "end", "none ENOTCONN"])
        #expect(driver.conversation.closing?.code == .noStatusReceived)
        #expect(driver.conversation.closing?.reason == nil)
    }

    @Test("The program closes: earlier messages leave, and the task ends after the answer of the server")
    func closedByProgram() {
        var driver = ConversationDriver()
        driver.receive()
        driver.send("before")
        let isClosing = driver.conversation.close(WebSocketCloseReport(.goingAway, Data("bye".utf8)))
        #expect(isClosing)
        driver.conversation.send(.string("after")) { [log = driver.log] error in
            log.append("after\(ConversationDriver.text(error))")
        }
        // This side has sent its close frame. Until the peer answers with a close frame, arriving messages are
        // discarded.
        driver.deliver([0x81, 1, 0x78])
        #expect(driver.heard == ["before", "close 1001 bye"])
        #expect(
            driver.noticed == ["sent before", "closed 1001 ", "end cancelled", "after cancelled", "none cancelled"])
        #expect(ConversationDriver.text(driver.conversation.closing) == "1001 bye")
        driver.end()
        #expect(driver.noticed.last == "disconnect")
        let isClosingAgain = driver.conversation.close(WebSocketCloseReport(.normalClosure))
        #expect(!isClosingAgain)
        #expect(driver.conversation.closing?.code == .goingAway)
    }

    @Test("If the server does not answer the close frame, the connection is aborted")
    func unansweredClose() {
        var driver = ConversationDriver()
        driver.processesAtOnce = false
        driver.send(String(repeating: "x", count: 1 << 20))
        let isClosing = driver.conversation.close(WebSocketCloseReport(.normalClosure))
        #expect(isClosing)
        driver.conversation.closingTimedOut()
        driver.settle()
        #expect(driver.noticed.first == "abort")
        #expect(driver.noticed.contains("end cancelled"))
    }

    @Test("The end of the task sends a close frame without a code, and fails all operations")
    func stopped() {
        var driver = ConversationDriver()
        driver.receive()
        driver.conversation.stop()
        driver.conversation.end(URLError(.timedOut))
        driver.settle()
        #expect(driver.heard == ["close 0 "])
        #expect(driver.noticed == ["none\(ConversationDriver.text(URLError(.timedOut)))"])
        driver.end()
        #expect(driver.noticed.last == "disconnect")
    }

    @Test("The end of the task before the handshake closes a late connection")
    func endedEarly() {
        var driver = ConversationDriver(isOpen: false)
        driver.receive()
        let isClosing = driver.conversation.close(WebSocketCloseReport(.normalClosure))
        #expect(!isClosing)
        driver.conversation.end(URLError(.cancelled))
        driver.open()
        #expect(driver.noticed == ["none\(ConversationDriver.text(URLError(.cancelled)))", "abort"])
        #expect(driver.conversation.closing?.code == .normalClosure)
    }

    @Test(
        "A server that violates the protocol",
        arguments: [
            ("masked", [0x81, 0x81, 1, 2, 3, 4, 5], 1002), ("reserved bit", [0xC1, 0], 1002),
            ("unknown opcode", [0x83, 0], 1002), ("continuation", [0x80, 0], 1002),
            ("long ping", [0x89, 126, 0, 126], 1002),
            ("not UTF-8", [0x81, 1, 0xFF], 1007), ("close code 1005", [0x88, 2, 0x03, 0xED], 1002),
        ] as [(String, [UInt8], Int)])
    func violations(_ name: String, _ bytes: [UInt8], _ code: Int) {
        var driver = ConversationDriver()
        driver.receive()
        driver.deliver(bytes)
        #expect(driver.noticed == ["end EPROTO", "none EPROTO", "disconnect"])
        #expect(driver.heard == ["close \(code) "])
    }

    @Test("The connection ends without a close frame", arguments: [nil, NWError.posix(.ECONNRESET)])
    func lost(_ error: NWError?) {
        var driver = ConversationDriver()
        driver.serverSends("last")
        driver.end(error)
        driver.receive()
        #expect(driver.noticed.first == "end connectionLost")
        #expect(driver.noticed.last == "text last")
        #expect(driver.conversation.closing?.code == .abnormalClosure)
    }

    @Test("A send that fails is reported with its error")
    func failedSend() {
        var driver = ConversationDriver()
        driver.processesAtOnce = false
        driver.send("a")
        driver.conversation.sent(driver.unprocessed[0], NWError.posix(.EPIPE))
        driver.settle()
        #expect(driver.noticed == ["sent a\(ConversationDriver.text(URLError(.networkConnectionLost)))"])
        driver.end(NWError.posix(.ECONNRESET))
        #expect(driver.noticed.dropFirst() == ["end connectionLost", "abort"])
    }

    // MARK: Close codes

    @Test("Close codes and their numbers", arguments: [0, 1000, 1001, 1004, 1005, 1012, 1015, 3000, 4999, -1, 1 << 40])
    func codes(_ number: Int) {
        let code = URLSessionWebSocketTask.CloseCode(rawValue: number)
        #expect(code?.rawValue == number)
        let named: Set = [0, 1000, 1001, 1005, 1015]
        var isNamed = true
        if case .other? = code { isNamed = false }
        #expect(isNamed == named.contains(number))
        #expect(code == .other(number))
    }

    @Test(
        "Only some codes are sent",
        arguments: [
            (URLSessionWebSocketTask.CloseCode.normalClosure, "1000 r"), (.other(4321), "4321 r"), (.invalid, "0 "),
            (.abnormalClosure, "0 "), (.other(-5), "0 "), (.other(70_000), "0 "),
        ])
    func frames(_ code: URLSessionWebSocketTask.CloseCode, _ text: String) {
        let frame = WebSocketCloseReport(code, Data("r".utf8)).frame
        #expect("\(frame.code?.rawValue ?? 0) \(frame.reason)" == text)
    }
}
