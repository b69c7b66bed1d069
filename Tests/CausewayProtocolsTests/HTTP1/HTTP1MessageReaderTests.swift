import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("The receiving half of an HTTP/1.1 connection")
struct HTTP1MessageReaderTests {
    @Test("Messages are decoded one after the other, from pieces of any size", arguments: [1, 3, 7, 1000])
    func messages(pieceLength: Int) throws {
        var reader = HTTP1MessageReader(.request, limits: HeadReader.Limits())
        var rest = Array("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n\r\n".utf8)[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(pieceLength))
            rest = rest.dropFirst(pieceLength)
        }
        let first = try reader.nextRequest()
        #expect(first?.target == "/a")
        reader.beginBody(.length(3))
        #expect(reader.expected == 3)
        var content: [UInt8] = []
        while case .content(let part)? = try reader.nextPart(atMost: 2) { content += part }
        #expect(content == Array("abc".utf8))
        #expect(reader.received == 3)
        #expect(!reader.awaitsInput)
        let second = try reader.nextRequest()
        #expect(second?.target == "/b")
        #expect(reader.awaitsInput)
        let third = try reader.nextRequest()
        #expect(third == nil)
        #expect(!reader.headHasBegun)
    }

    @Test("A head is decoded from lent bytes, up to its end")
    func lentHead() throws {
        var reader = HTTP1MessageReader(.response, limits: HeadReader.Limits())
        let start = Array("HTTP/1.1 200 OK\r\n".utf8)
        let (taken, partial) = try reader.nextResponse(from: start.span)
        #expect(taken == start.count && partial == nil)
        #expect(reader.headHasBegun && reader.headHasStartLine && reader.isEmpty)
        let (count, response) = try reader.nextResponse(from: Array("\r\nab".utf8).span)
        #expect(count == 2 && response?.status == 200)
        #expect(!reader.headHasBegun)
    }

    @Test("Content is bypassed only if no bytes wait before it and the stream has not ended")
    func bypass() {
        var reader = HTTP1MessageReader(.response, limits: HeadReader.Limits())
        reader.beginBody(.length(5))
        let first = reader.bypass(3)
        #expect(first == 3 && reader.received == 3)
        reader.append([1])
        let behind = reader.bypass(1)
        #expect(behind == 0 && reader.count == 1)
        _ = reader.removeInput()
        let rest = reader.bypass(9)
        #expect(rest == 2 && reader.received == 5)
        reader.end(isClean: false)
        reader.beginBody(.untilEnd)
        let late = reader.bypass(1)
        #expect(late == 0 && reader.bodyEndsWithConnection)
    }

    @Test("Only the first end of the stream counts, and no bytes follow it")
    func end() {
        var reader = HTTP1MessageReader(.response, limits: HeadReader.Limits())
        #expect(reader.inputEnd == nil)
        reader.end(isClean: false)
        reader.end(isClean: true)
        reader.append([1])
        #expect(reader.inputEnd == false)
        #expect(reader.hasEnded && reader.isEmpty && !reader.awaitsInput)
    }
}
