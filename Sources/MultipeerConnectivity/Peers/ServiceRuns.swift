/// The starts and stops of an advertiser or a browser, and what the current start made.
///
/// A start is numbered, because its service is made later on a queue: what an earlier start makes or reports is dropped.
struct ServiceRuns<Service: Sendable>: Sendable {
    private var number = 0
    private var isRunning = false
    private var service: Service?

    /// Begins a run. Returns its number, or `nil` if one is under way.
    mutating func begin() -> Int? {
        guard !isRunning else { return nil }
        number += 1
        isRunning = true
        return number
    }

    func isCurrent(_ run: Int) -> Bool { isRunning && number == run }

    /// Keeps what a run made. Returns it if that run has ended, so that the caller stops it.
    mutating func keep(_ service: Service, of run: Int) -> Service? {
        guard isCurrent(run) else { return service }
        self.service = service
        return nil
    }

    /// Ends the run. Returns what it made, so that the caller stops it.
    mutating func end() -> Service? {
        isRunning = false
        return service.take()
    }
}
