// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {FeeCollector, Order} from "../../../genesis/contracts/FeeCollector.sol";
import {cheats} from "./Cheats.sol";
import {Fixture} from "./Fixture.sol";
import {Refusing} from "./Recipients.sol";

/// Does what anybody may do, over a few orders, so that the same order is met again and again. It keeps books of its own.
contract Public is Fixture {
    uint256 private constant ORDERS = 8;
    /// Where `withdraw` sends to.
    address private constant ELSEWHERE = address(0xe15e);

    uint256 private immutable BEGIN;
    address private immutable REFUSING;
    mapping(bytes32 id => bool) private paidBefore;

    uint256 public sent;
    uint256 public fees;
    uint256 public burned;
    /// Payments that should have been refused.
    uint256 public wrong;
    /// Payments that went through: without any the invariants say nothing.
    uint256 public payments;

    constructor(FeeCollector collector_, address sink_) {
        collector = collector_;
        sink = sink_;
        BEGIN = block.timestamp;
        REFUSING = address(new Refusing());
    }

    function setUp() public override {}

    function paysRight(uint256 which) external {
        Order memory order = orderOf(which);
        _pay(order, order.amount);
    }

    function paysAnything(uint256 which, uint256 value) external {
        _pay(orderOf(which), within(value, 0, 2e27));
    }

    function paysNearly(uint256 which, bool less) external {
        Order memory order = orderOf(which);
        _pay(order, less ? order.amount - 1 : order.amount + 1);
    }

    function transfers(uint256 which, uint256 value) external {
        value = within(value, 1, 2e27);
        cheats.deal(address(this), value);
        (bool taken,) = boxOf(orderOf(which)).call{value: value}("");
        if (taken) sent += value;
    }

    function transfersToCollector(uint256 value) external {
        value = within(value, 1, 1e18);
        cheats.deal(address(this), value);
        (bool taken,) = address(collector).call{value: value}("");
        if (taken) sent += value;
    }

    function collects(uint256 which) external {
        Order memory order = orderOf(which);
        bytes32 id = collector.idOf(order);
        (, uint128 before) = collector.booked(id);
        try collector.collect(order, signed(order)) {
            (, uint128 afterwards) = collector.booked(id);
            _count(before, afterwards);
        } catch {}
    }

    function withdraws() external {
        cheats.prank(REFUSING);
        try collector.withdraw(payable(ELSEWHERE)) {} catch {}
    }

    function timePasses(uint16 secondsMore) external {
        cheats.warp(block.timestamp + secondsMore % 600);
    }

    /// Whatever the recipients of invoices have, and what lies in boxes.
    function elsewhere() external view returns (uint256 sum) {
        sum = MERCHANT.balance + ELSEWHERE.balance;
        for (uint256 which = 0; which < ORDERS; ++which) sum += boxOf(orderOf(which)).balance;
    }

    /// Amounts from one wei to more than there will ever be, with no fee, a part, or all of it.
    function orderOf(uint256 which) public view returns (Order memory) {
        uint256 n = which % ORDERS;
        uint256 amount = [uint256(1), 9, 101, 1 ether, 3.3 ether, 1e27, 7, 1 ether][n];
        address payee = n >= 6 ? address(0) : n % 2 == 0 ? MERCHANT : REFUSING;
        uint256 fee = n >= 6 ? amount : n == 0 ? 0 : amount / 3;
        return Order(bytes32(n), SOURCE, payee, amount, fee, uint64(BEGIN + 3 hours));
    }

    function _pay(Order memory order, uint256 value) private {
        bytes memory signature = signed(order);
        cheats.deal(address(this), value);
        try collector.pay{value: value}(order, signature) returns (bytes32 id) {
            ++payments;
            if (paidBefore[id] || value != order.amount || block.timestamp > order.validUntil) ++wrong;
            paidBefore[id] = true;
            sent += value;
            _count(0, order.fee);
        } catch {}
    }

    function _count(uint256 feeBefore, uint256 feeAfterwards) private {
        fees += feeAfterwards - feeBefore;
        burned += feeAfterwards * 3 / 10 - feeBefore * 3 / 10;
    }
}

contract InvariantsTest is Fixture {
    Public private people;

    function setUp() public override {
        super.setUp();
        people = new Public(collector, sink);
        people.paysRight(3);
    }

    /// forge calls these, and nothing else.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(people);
    }

    function invariant_the_collector_holds_what_it_owes_and_nothing_else() public view {
        equal(address(collector).balance, collector.owedTotal(), "held");
    }

    function invariant_no_wei_appears_or_disappears() public view {
        uint256 platform = TREASURY.balance + sink.balance;
        equal(people.elsewhere() + platform + collector.owedTotal(), people.sent(), "all of it");
    }

    function invariant_an_order_is_paid_once_exactly_and_in_time() public view {
        equal(people.wrong(), 0, "payments that should have been refused");
        truth(people.payments() > 0, "nothing was ever paid");
    }

    function invariant_totals_are_what_treasury_and_burn_sink_have() public view {
        (uint128 fees, uint128 burned) = collector.totals(SOURCE);
        equal(fees, people.fees(), "fees");
        equal(burned, people.burned(), "burned");
        equal(sink.balance, burned, "burn sink");
        equal(TREASURY.balance, fees - burned, "treasury");
    }
}
