extension PACPrelude {
    /// A replacement for JavaScript's `Date` that gets the UTC offset as a parameter.
    ///
    /// The engine's own `Date` calls the C library, which takes a lock. If another thread held this lock during `fork`,
    /// the script would wait forever. The current UTC offset applies to all dates. With daylight saving time, dates in
    /// the other half of the year are therefore wrong by one hour.
    static let dates = #"""
        var NativeDate = Date, shift = Number(ahead) * 60000, shape = NativeDate.prototype;
        var written = /^[+-]?\d{4,6}(-\d\d(-\d\d)?)?(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;
        function local(date) { return new NativeDate(date.getTime() + shift); }
        function clock(isUniversal) { return isUniversal ? new NativeDate() : local(new NativeDate()); }
        function parsed(text) { return written.test(text) ? NativeDate.parse(text) : NaN; }
        function LocalDate(year, month, day, hour, minute, second, millisecond) {
            if (!(this instanceof LocalDate)) return String(new NativeDate());
            switch (arguments.length) {
            case 0: return new NativeDate();
            case 1:
                if (year !== null && typeof year === "object") year = year.valueOf();
                return new NativeDate(typeof year === "string" ? parsed(year) : Number(year));
            default:
                var value = NativeDate.UTC(
                    year, month, day === undefined ? 1 : day, hour || 0, minute || 0, second || 0, millisecond || 0);
                return new NativeDate(value - shift);
            }
        }
        LocalDate.prototype = shape;
        LocalDate.now = NativeDate.now;
        LocalDate.UTC = NativeDate.UTC;
        LocalDate.parse = function (text) { return parsed(String(text)); };
        function replace(name, body) { Object.defineProperty(shape, name, { value: body, writable: true, configurable: true }); }
        replace("constructor", LocalDate);
        ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"].forEach(function (part) {
            var get = shape["getUTC" + part], set = shape["setUTC" + part];
            replace("get" + part, function () { return get.call(local(this)); });
            if (set) replace("set" + part, function () {
                return this.setTime(set.apply(local(this), arguments) - shift);
            });
        });
        replace("getYear", function () { return this.getFullYear() - 1900; });
        replace("setYear", function (year) { return this.setFullYear(year >= 0 && year <= 99 ? 1900 + Number(year) : year); });
        replace("getTimezoneOffset", function () { return -shift / 60000; });
        ["toString", "toLocaleString", "toUTCString", "toGMTString"].forEach(function (name) {
            replace(name, function () { return isNaN(this.getTime()) ? "Invalid Date" : this.toISOString(); });
        });
        ["toDateString", "toLocaleDateString"].forEach(function (name) {
            replace(name, function () { return local(this).toISOString().substring(0, 10); });
        });
        ["toTimeString", "toLocaleTimeString"].forEach(function (name) {
            replace(name, function () { return local(this).toISOString().substring(11, 19); });
        });
        this.Date = LocalDate;
        """#
}
