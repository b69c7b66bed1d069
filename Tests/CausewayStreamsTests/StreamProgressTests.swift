import Causeway
import Foundation
import Testing

@testable import CausewayStreams

@Suite("Events of a stream's delegate")
struct StreamProgressTests {
    private typealias Facts = StreamProgress.Facts

    private static func next(_ progress: inout StreamProgress, _ facts: Facts) -> Stream.Event? {
        progress.nextEvent(facts, ready: .hasBytesAvailable)
    }

    private static func open(_ progress: inout StreamProgress) -> Bool { progress.openCalled() }
    private static func close(_ progress: inout StreamProgress) -> Bool { progress.closeCalled() }

    private static func opened() -> StreamProgress {
        var progress = StreamProgress()
        _ = progress.openCalled()
        progress.opened()
        return progress
    }

    @Test("Opening is the first event")
    func opening() {
        var progress = StreamProgress()
        let facts = Facts(isReady: true)
        #expect(Self.next(&progress, facts) == nil && progress.status(facts) == .notOpen)
        #expect(Self.open(&progress))
        #expect(!Self.open(&progress))
        #expect(Self.next(&progress, facts) == nil && progress.status(facts) == .opening)
        progress.opened()
        #expect(Self.next(&progress, facts) == .openCompleted && progress.status(facts) == .open)
        #expect(Self.next(&progress, facts) == .hasBytesAvailable)
    }

    @Test("Available bytes are reported once until they are read")
    func bytes() {
        var progress = Self.opened()
        _ = Self.next(&progress, Facts())
        #expect(Self.next(&progress, Facts()) == nil)
        #expect(Self.next(&progress, Facts(isReady: true)) == .hasBytesAvailable)
        #expect(Self.next(&progress, Facts(isReady: true)) == nil)
        progress.touched()
        #expect(Self.next(&progress, Facts()) == nil)
        #expect(Self.next(&progress, Facts(isReady: true)) == .hasBytesAvailable)
    }

    @Test("The end is reported once, after all other events")
    func end() {
        var progress = Self.opened()
        _ = Self.next(&progress, Facts())
        #expect(Self.next(&progress, Facts(isAtEnd: true)) == .endEncountered)
        #expect(progress.status(Facts(isAtEnd: true)) == .atEnd)
        #expect(Self.next(&progress, Facts(isAtEnd: true)) == nil)
    }

    @Test("An error is reported once, after available bytes; one that prevents opening is the only event")
    func failure() {
        var progress = Self.opened()
        let failure = NWError.posix(.ECONNRESET)
        _ = Self.next(&progress, Facts())
        #expect(Self.next(&progress, Facts(isReady: true, failure: failure)) == .hasBytesAvailable)
        #expect(progress.status(Facts(isReady: true, failure: failure)) == .open)
        #expect(Self.next(&progress, Facts(failure: failure)) == .errorOccurred)
        #expect(progress.status(Facts(failure: failure)) == .error)
        #expect(Self.next(&progress, Facts(failure: failure)) == nil)
        var other = StreamProgress()
        _ = other.openCalled()
        #expect(Self.next(&other, Facts(failure: failure)) == .errorOccurred)
        #expect(other.status(Facts(failure: failure)) == .error)
    }

    @Test("No event follows a close")
    func close() {
        var progress = Self.opened()
        #expect(Self.close(&progress))
        #expect(!Self.close(&progress))
        #expect(Self.next(&progress, Facts(isReady: true, isAtEnd: true, failure: .posix(.EPIPE))) == nil)
        #expect(progress.status(Facts(isReady: true)) == .closed)
        progress.opened()
        #expect(!Self.open(&progress) && progress.status(Facts()) == .closed)
    }
}
