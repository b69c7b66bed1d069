import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("§21: when background transfers run, and which ones are refused")
struct BackgroundPolicyTests {
    private let directory = StoreFileTests.Directory()

    /// A delegate that reports when a task ends.
    private final class Ends: NSObject, URLSessionTaskDelegate {
        let (codes, feed) = AsyncStream<Int>.makeStream()

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            feed.yield((error as? URLError)?.errorCode ?? 0)
        }
    }

    @Test("A transfer is retried until the resource timeout, which goes on while the program is away")
    func resourceTimeout() async throws {
        let configuration = URLSessionConfiguration.background(withIdentifier: "test")
        configuration.timeoutIntervalForResource = 86_400
        let store = try #require(TransferStore(directory.path))
        // The first attempt was more than a day ago. The next one would be in eleven days.
        var record = TransferRecord(
            identifier: 1, request: URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/"))), uploadPath: nil)
        record.isSuspended = false
        record.stage = .begun
        record.started = Date().timeIntervalSince1970 - 90_000
        record.options.earliestBegin = Date().timeIntervalSince1970 + 1e6
        #expect(store.write(record))
        let ends = Ends()
        let session = URLSession(configuration: configuration, delegate: ends, transfersIn: directory.path)
        var iterator = ends.codes.makeAsyncIterator()
        #expect(await iterator.next() == URLError.Code.timedOut.rawValue)
        // The record is removed after the delegate's call, on the delegate's queue.
        await withCheckedContinuation { continuation in
            session.delegateQueue.addBarrierBlock { continuation.resume() }
        }
        #expect(store.identifiers == [])
        session.invalidateAndCancel()
    }

    @Test("Only a discretionary session refuses expensive and constrained networks")
    func networks() {
        let request = URLRequest(url: URL(fileURLWithPath: "/"))
        for isDiscretionary in [true, false] {
            var settings = SessionSettings()
            settings.access.isDiscretionary = isDiscretionary
            let chosen = SessionCore(settings, delegate: nil, queue: nil).favorable(request)
            #expect(chosen.allowsExpensiveNetworkAccess != isDiscretionary)
            #expect(chosen.allowsConstrainedNetworkAccess != isDiscretionary)
        }
    }

    @Test("A background session uses no class of the program")
    func programClasses() throws {
        let url = try #require(URL(string: "http://class.mock/"))
        for (identifier, isUsed) in [(nil, true), ("test", false)] as [(String?, Bool)] {
            var settings = SessionSettings()
            settings.background.identifier = identifier
            settings.protocolClasses = [MockProtocol.self]
            let session = URLSession(core: SessionCore(settings, delegate: nil, queue: nil))
            defer { session.invalidateAndCancel() }
            let type = session.core.protocolClass(for: session.dataTask(with: url), URLRequest(url: url))
            #expect((type == MockProtocol.self) == isUsed)
        }
    }

    @Test("A discretionary session waits while the computer is busy, for an hour at most")
    func busyWait() {
        var wait = BusyWait()
        func waits(_ load: Double?, _ seconds: Int) -> Bool {
            wait.waits(load: load, processorCount: 2, at: .seconds(seconds))
        }
        #expect(!waits(2, 10_000) && !waits(nil, 10_000))
        #expect(waits(2.1, 10_000) && waits(9, 13_599) && !waits(9, 13_600))
        // Two events restart the wait: a moment without load, and setting the clock back.
        #expect(!waits(0, 13_700) && waits(9, 13_800) && waits(9, 5_000) && waits(9, 8_599) && !waits(9, 8_600))
    }

    @Test("The load is the first number of the kernel's text")
    func load() {
        #expect(SystemLoad.average(in: "0.52 1.00 2.00 1/900 4242\n") == 0.52)
        #expect(SystemLoad.average(in: "") == nil && SystemLoad.average(in: "x 1") == nil)
    }

    @Test("Completion handlers are refused with a clear text")
    func completionHandlers() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let configuration = URLSessionConfiguration.background(withIdentifier: "exit")
            _ = URLSession(configuration: configuration).downloadTask(with: URL(fileURLWithPath: "/")) { _, _, _ in }
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("Completion handlers are not supported in background sessions. Use a delegate instead."))
    }

    @Test("Uploads of data are refused with a clear text")
    func uploadsOfData() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let configuration = URLSessionConfiguration.background(withIdentifier: "exit")
            let request = URLRequest(url: URL(fileURLWithPath: "/"))
            _ = URLSession(configuration: configuration).uploadTask(with: request, from: Data())
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("Background sessions upload only files. Use uploadTask(with:fromFile:)."))
    }
}
