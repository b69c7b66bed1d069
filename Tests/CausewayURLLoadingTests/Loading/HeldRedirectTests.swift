import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Proposals of redirects")
struct HeldRedirectTests {
    private let url = URL(string: "https://example.com/a").unsafelyUnwrapped

    private func response(_ fields: [(String, String)]) -> HTTPURLResponse {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return HTTPURLResponse(HTTPResponseHead(status: 301, fields: section), to: URLRequest(url: url))
    }

    private func decline(_ load: FakeLoad) {
        for case .redirect(let redirect) in load.events { redirect.decline?() }
    }

    @Test("The program gets the redirect after the metrics; if it declines, the response is delivered, once")
    func declined() {
        let load = FakeLoad(challenges: [], isMeasured: true)
        HeldRedirect(load: load, response: response([("Location", "/b")])).propose()
        #expect(load.words == ["measured", "redirect https://example.com/b"] && load.steps.isEmpty)
        decline(load)
        decline(load)
        #expect(load.steps == [.delivered])
    }

    @Test("After the end of the load, declining changes nothing; without a target, the response is delivered")
    func ends() {
        let load = FakeLoad(challenges: [])
        HeldRedirect(load: load, response: response([("Location", "/b")])).propose()
        load.fail(LoadFailure(.cancelled))
        decline(load)
        #expect(load.steps == [.failed(.cancelled)])
        let untargeted = FakeLoad(challenges: [])
        HeldRedirect(load: untargeted, response: response([])).propose()
        #expect(untargeted.words.isEmpty && untargeted.steps == [.delivered])
    }

    @Test("A redirect is stored when it is followed, if its content is complete")
    func storing() throws {
        let store = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let request = URLRequest(url: url)
        let task = try #require(URLSession(configuration: .ephemeral).dataTask(with: request).core)
        let redirect = response([("Location", "/b"), ("Cache-Control", "max-age=1000")])
        for isComplete in [false, true] {
            let cache = try #require(LoadCache(store, for: LoadAttempt(request: request, task: task), nil))
            _ = cache.begin(FieldSection(), .byProtocol)
            _ = cache.judge(HTTPResponseHead(status: 301, fields: redirect.fields))
            let load = FakeLoad(challenges: [], cache: cache)
            if !isComplete { load.repeatExchange() }
            HeldRedirect(load: load, response: redirect).propose()
            #expect((store.cachedResponse(for: request) != nil) == isComplete)
        }
    }
}
