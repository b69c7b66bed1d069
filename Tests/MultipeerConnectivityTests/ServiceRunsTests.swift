import Testing

@testable import MultipeerConnectivity

@Suite("Runs of a service")
struct ServiceRunsTests {
    private var runs = ServiceRuns<String>()

    @Test("A second start does nothing while one is under way")
    mutating func secondStart() {
        let starts = [runs.begin(), runs.begin()]
        #expect(starts == [1, nil])
        let service = runs.end()
        #expect(service == nil)
        let next = runs.begin()
        #expect(next == 2)
    }

    @Test("What a run made is kept until it ends")
    mutating func keeping() {
        let run = runs.begin() ?? 0
        let unwanted = runs.keep("made", of: run)
        #expect(unwanted == nil && runs.isCurrent(run))
        let ends = [runs.end(), runs.end()]
        #expect(ends == ["made", nil])
        #expect(!runs.isCurrent(run))
    }

    @Test("What a run makes after its end is returned, also while the next run is under way")
    mutating func late() {
        let first = runs.begin() ?? 0
        _ = runs.end()
        let unwanted = runs.keep("late", of: first)
        let second = runs.begin() ?? 0
        let later = [runs.keep("later", of: first), runs.keep("new", of: second)]
        #expect([unwanted] + later == ["late", "later", nil])
        #expect(!runs.isCurrent(first) && runs.isCurrent(second))
        let service = runs.end()
        #expect(service == "new")
    }
}
