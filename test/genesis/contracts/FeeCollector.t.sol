// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {DepositBox} from "../../../genesis/contracts/DepositBox.sol";
import {FeeCollector, Order} from "../../../genesis/contracts/FeeCollector.sol";
import {cheats} from "./Cheats.sol";
import {Fixture} from "./Fixture.sol";
import {Endless, Greedy, Reentering, Refusing, SendingBack, Working} from "./Recipients.sol";

contract FeeCollectorTest is Fixture {
    // How a payment is split

    function test_a_purchase_is_burned_by_30_percent_and_the_treasury_has_the_rest() public {
        pay(purchase(1, 100 ether));
        equal(sink.balance, 30 ether, "burned");
        equal(TREASURY.balance, 70 ether, "treasury");
        equal(address(collector).balance, 0, "kept");
        (uint128 fees, uint128 burned) = collector.totals(SOURCE);
        equal(fees, 100 ether, "fees of the source");
        equal(burned, 30 ether, "burned of the source");
    }

    function test_a_merchant_gets_the_amount_without_the_fee() public {
        pay(invoice(1, 1000, 101));
        equal(MERCHANT.balance, 899, "merchant");
        equal(sink.balance, 30, "burned is rounded down");
        equal(TREASURY.balance, 71, "treasury");
    }

    function test_an_invoice_without_a_fee_is_all_the_merchants() public {
        pay(invoice(1, 5 ether, 0));
        equal(MERCHANT.balance, 5 ether, "merchant");
        equal(sink.balance + TREASURY.balance, 0, "platform");
    }

    function test_the_log_of_a_payment_names_payer_shares_and_order() public {
        Order memory order = invoice(1, 1000, 101);
        bytes32 id = collector.idOf(order);
        cheats.expectEmit(true, true, true, true, address(collector));
        emit FeeCollector.Paid(id, SOURCE, PAYER, MERCHANT, 1000, 101, 30);
        pay(order);
        (uint128 received, uint128 fee) = collector.booked(id);
        equal(received, 1000, "received");
        equal(fee, 101, "fee");
    }

    // What is refused

    function test_an_order_is_paid_once() public {
        Order memory order = invoice(1, 5 ether, 1 ether);
        pay(order);
        bytes memory again = abi.encodeWithSelector(FeeCollector.AlreadyPaid.selector, collector.idOf(order));
        refused(order, signed(order), 5 ether, again);
    }

    function test_an_amount_that_is_not_exact_is_refused(uint96 sent) public {
        Order memory order = invoice(1, 5 ether, 1 ether);
        if (sent == order.amount) return;
        bytes memory wrong = abi.encodeWithSelector(FeeCollector.WrongAmount.selector, 5 ether, uint256(sent));
        refused(order, signed(order), sent, wrong);
    }

    function test_one_wei_too_little_or_too_much_is_refused() public {
        test_an_amount_that_is_not_exact_is_refused(5 ether - 1);
        test_an_amount_that_is_not_exact_is_refused(5 ether + 1);
    }

    function test_the_last_second_is_in_time_and_the_next_is_late() public {
        (Order memory one, Order memory other) = (invoice(1, 1 ether, 0), invoice(2, 1 ether, 0));
        bytes memory signature = signed(other);
        cheats.warp(one.validUntil);
        pay(one);
        cheats.warp(uint256(other.validUntil) + 1);
        refused(other, signature, 1 ether, abi.encodeWithSelector(FeeCollector.Expired.selector, other.validUntil));
    }

    function test_a_changed_term_makes_the_signature_worthless(uint8 term, uint256 by) public {
        Order memory order = invoice(1, 5 ether, 1 ether);
        bytes memory signature = signed(order);
        uint256 step = within(by, 1, 1 ether - 1);
        if (term % 6 == 0) order.ref = bytes32(uint256(order.ref) + step);
        if (term % 6 == 1) order.source = bytes32(uint256(order.source) ^ step);
        if (term % 6 == 2) order.payee = address(uint160(order.payee) + uint160(step));
        if (term % 6 == 3) order.amount += step;
        if (term % 6 == 4) order.fee -= step;
        if (term % 6 == 5) order.validUntil += uint64(step);
        cheats.deal(PAYER, order.amount);
        cheats.expectPartialRevert(FeeCollector.NotSigned.selector);
        cheats.prank(PAYER);
        collector.pay{value: order.amount}(order, signature);
    }

    function test_a_signer_signs_for_its_own_source_and_until_it_is_revoked() public {
        Order memory order = invoice(1, 1 ether, 0);
        bytes memory stranger = abi.encodeWithSelector(FeeCollector.NotSigned.selector, cheats.addr(7));
        refused(order, signedBy(7, order), 1 ether, stranger);
        order.source = "bridge";
        bytes memory foreign = abi.encodeWithSelector(FeeCollector.NotSigned.selector, cheats.addr(SIGNER_KEY));
        refused(order, signed(order), 1 ether, foreign);
        order.source = SOURCE;
        cheats.prank(OWNER);
        collector.setSigner(SOURCE, cheats.addr(SIGNER_KEY), false);
        refused(order, signed(order), 1 ether, foreign);
    }

    function test_an_order_for_another_contract_or_chain_counts_for_nothing_here() public {
        Order memory order = invoice(1, 1 ether, 0);
        FeeCollector other = new FeeCollector(OWNER, TREASURY, sink);
        truth(other.idOf(order) != collector.idOf(order), "both have the same id");
    }

    function test_terms_that_make_no_sense_are_refused() public {
        bytes memory bad = abi.encodeWithSelector(FeeCollector.BadOrder.selector);
        Order memory nothing = invoice(1, 0, 0);
        refused(nothing, signed(nothing), 0, bad);
        Order memory allFee = invoice(2, 1 ether, 1 ether + 1);
        refused(allFee, signed(allFee), 1 ether, bad);
        Order memory nobody = invoice(3, 1 ether, 0.5 ether);
        nobody.payee = address(0);
        refused(nobody, signed(nobody), 1 ether, bad);
        Order memory itself = invoice(4, 1 ether, 0);
        itself.payee = address(collector);
        refused(itself, signed(itself), 1 ether, bad);
        Order memory huge = invoice(5, uint256(type(uint96).max) + 1, 0);
        refused(huge, signed(huge), huge.amount, bad);
        pay(invoice(6, type(uint96).max, type(uint96).max));
    }

    function test_a_plain_transfer_to_the_collector_is_refused() public {
        cheats.deal(PAYER, 1 ether);
        cheats.prank(PAYER);
        (bool taken,) = address(collector).call{value: 1 ether}("");
        truth(!taken, "it was taken");
    }

    // Deposit boxes

    function test_a_box_is_paid_in_parts_and_too_much_is_the_merchants() public {
        Order memory order = invoice(1, 10 ether, 1 ether);
        bytes memory signature = signed(order);
        address box = boxOf(order);
        truth(box.code.length == 0, "it has code before");
        _transfer(box, 3 ether);
        collector.collect(order, signature);
        equal(MERCHANT.balance, 2.7 ether, "a part");
        cheats.warp(order.validUntil + 10 days);
        _transfer(box, 12 ether);
        cheats.expectEmit(true, true, false, true, address(collector));
        emit FeeCollector.Collected(collector.idOf(order), SOURCE, MERCHANT, 12 ether, 0.7 ether, 0.21 ether, 15 ether);
        collector.collect(order, signature);
        equal(MERCHANT.balance, 14 ether, "the rest");
        equal(sink.balance, 0.3 ether, "burned");
        equal(TREASURY.balance, 0.7 ether, "treasury");
    }

    function test_an_empty_box_has_nothing_to_collect() public {
        Order memory order = invoice(1, 1 ether, 0);
        bytes memory signature = signed(order);
        cheats.expectRevert(abi.encodeWithSelector(FeeCollector.NothingToCollect.selector, collector.idOf(order)));
        collector.collect(order, signature);
    }

    function test_whoever_began_by_transfer_cannot_pay_a_second_time_by_wallet() public {
        Order memory order = invoice(1, 10 ether, 1 ether);
        address box = boxOf(order);
        _transfer(box, 1);
        bytes32 id = collector.idOf(order);
        refused(order, signed(order), 10 ether, abi.encodeWithSelector(FeeCollector.MoneyInBox.selector, id, box));
        collector.collect(order, signed(order));
        refused(order, signed(order), 10 ether, abi.encodeWithSelector(FeeCollector.AlreadyPaid.selector, id));
    }

    function test_a_transfer_after_payment_is_passed_on_without_another_fee() public {
        Order memory order = invoice(1, 10 ether, 1 ether);
        pay(order);
        _transfer(boxOf(order), 2 ether);
        collector.collect(order, signed(order));
        equal(MERCHANT.balance, 11 ether, "merchant");
        equal(sink.balance + TREASURY.balance, 1 ether, "fee");
    }

    function test_a_box_opens_for_its_collector_alone() public {
        Order memory order = invoice(1, 10 ether, 0);
        address box = boxOf(order);
        _transfer(box, 1 ether);
        collector.collect(order, signed(order));
        _transfer(box, 1 ether);
        cheats.expectRevert(abi.encodeWithSelector(DepositBox.OnlyCollector.selector));
        DepositBox(payable(box)).release();
    }

    function test_a_purchase_has_no_box() public {
        Order memory order = purchase(1, 1 ether);
        bytes memory signature = signed(order);
        _transfer(boxOf(order), 1 ether);
        cheats.expectRevert(abi.encodeWithSelector(FeeCollector.BadOrder.selector));
        collector.collect(order, signature);
    }

    function test_a_box_is_collected_by_signed_terms_only() public {
        Order memory order = invoice(1, 1 ether, 0);
        _transfer(boxOf(order), 1 ether);
        bytes memory signature = signedBy(7, order);
        cheats.expectRevert(abi.encodeWithSelector(FeeCollector.NotSigned.selector, cheats.addr(7)));
        collector.collect(order, signature);
    }

    function test_parts_of_any_size_make_the_same_fee_and_burn_to_the_wei(uint96 amount, uint96 fee, uint96[6] calldata parts)
        public
    {
        Order memory order = invoice(1, within(amount, 1, 1e28), 0);
        order.fee = within(fee, 0, order.amount);
        bytes memory signature = signed(order);
        address box = boxOf(order);
        uint256 all;
        for (uint256 i = 0; i < parts.length; ++i) {
            uint256 part = within(parts[i], 1, 1e28);
            all += part;
            _transfer(box, part);
            collector.collect(order, signature);
        }
        uint256 due = all < order.amount ? order.fee * all / order.amount : order.fee;
        equal(MERCHANT.balance, all - due, "merchant");
        equal(sink.balance, due * 3 / 10, "burned");
        equal(TREASURY.balance, due - due * 3 / 10, "treasury");
    }

    // Recipients that do not take what is theirs

    function test_a_recipient_that_does_not_take_its_share_stops_nobody() public {
        address[3] memory recipients = [address(new Refusing()), address(new Endless()), address(new SendingBack())];
        for (uint256 i = 0; i < recipients.length; ++i) {
            Order memory order = invoice(i, 5 ether, 1 ether);
            order.payee = recipients[i];
            pay(order);
            equal(collector.owed(recipients[i]), 4 ether, "owed");
        }
        equal(collector.owedTotal(), 12 ether, "owed to all");
        equal(address(collector).balance, 12 ether, "held for them");
        equal(TREASURY.balance, 2.1 ether, "treasury");
        address elsewhere = address(0xe15e);
        cheats.prank(recipients[0]);
        collector.withdraw(payable(elsewhere));
        equal(elsewhere.balance, 4 ether, "withdrawn");
        equal(collector.owedTotal(), 8 ether, "left");
        cheats.expectRevert(abi.encodeWithSelector(FeeCollector.NothingOwed.selector));
        cheats.prank(recipients[0]);
        collector.withdraw(payable(elsewhere));
    }

    function test_a_recipient_that_pays_from_within_is_owed_its_share() public {
        Reentering recipient = new Reentering(collector);
        cheats.deal(address(recipient), 1 ether);
        Order memory inner = invoice(2, 1 ether, 0);
        recipient.prepare(inner, signed(inner));
        Order memory order = invoice(1, 5 ether, 1 ether);
        order.payee = address(recipient);
        pay(order);
        equal(collector.owed(address(recipient)), 4 ether, "owed");
        (uint128 received,) = collector.booked(collector.idOf(inner));
        equal(received, 0, "the inner one was paid");
    }

    function test_what_is_owed_is_paid_out_once() public {
        Greedy creditor = new Greedy(collector);
        Order memory order = invoice(1, 4 ether, 0);
        order.payee = address(creditor);
        pay(order);
        order = invoice(2, 4 ether, 0);
        order.payee = address(new Refusing());
        pay(order);
        creditor.fetch();
        equal(creditor.taken(), 4 ether, "taken");
        equal(address(collector).balance, 4 ether, "the other's");
    }

    function test_a_treasury_that_refuses_is_owed_its_share() public {
        address treasury = address(new Refusing());
        cheats.prank(OWNER);
        collector.setTreasury(treasury);
        pay(purchase(1, 10 ether));
        equal(collector.owed(treasury), 7 ether, "owed");
        equal(sink.balance, 3 ether, "burned");
    }

    function test_no_gas_limit_turns_a_payment_into_a_debt() public {
        address recipient = address(new Working());
        // With one debt on the books the next is cheaper to write: the case that could slip through.
        Order memory first = invoice(1, 1 ether, 0);
        first.payee = address(new Refusing());
        pay(first);
        uint256 paid;
        for (uint256 gasLimit = 40_000; gasLimit < 400_000; gasLimit += 500) {
            Order memory order = invoice(gasLimit, 1 ether, 0.1 ether);
            order.payee = recipient;
            bytes memory data = abi.encodeCall(FeeCollector.pay, (order, signed(order)));
            cheats.deal(PAYER, 1 ether);
            cheats.prank(PAYER);
            (bool done,) = address(collector).call{value: 1 ether, gas: gasLimit}(data);
            if (done) ++paid;
            equal(collector.owed(recipient), 0, "owed");
        }
        truth(paid > 300, "it was hardly ever paid");
    }

    // Who may change what

    function test_the_owner_alone_changes_signers_and_treasury() public {
        bytes memory stranger = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, PAYER);
        cheats.expectRevert(stranger);
        cheats.prank(PAYER);
        collector.setSigner(SOURCE, PAYER, true);
        cheats.expectRevert(stranger);
        cheats.prank(PAYER);
        collector.setTreasury(PAYER);
        cheats.prank(OWNER);
        collector.setTreasury(PAYER);
        truth(collector.treasury() == PAYER, "not changed");
    }

    function test_addresses_that_would_lose_money_are_refused() public {
        bytes memory bad = abi.encodeWithSelector(FeeCollector.BadAddress.selector);
        address[3] memory treasuries = [address(0), address(collector), sink];
        for (uint256 i = 0; i < treasuries.length; ++i) {
            cheats.expectRevert(bad);
            cheats.prank(OWNER);
            collector.setTreasury(treasuries[i]);
        }
        cheats.expectRevert(bad);
        cheats.prank(OWNER);
        collector.setSigner(SOURCE, address(0), true);
        cheats.expectRevert(bad);
        new FeeCollector(OWNER, TREASURY, address(0xdead));
        cheats.expectRevert(bad);
        new FeeCollector(OWNER, TREASURY, address(collector));
    }

    function test_a_new_owner_has_to_accept() public {
        cheats.prank(OWNER);
        collector.transferOwnership(PAYER);
        truth(collector.owner() == OWNER, "it changed at once");
        cheats.prank(PAYER);
        collector.acceptOwnership();
        truth(collector.owner() == PAYER, "it did not change");
    }

    function _transfer(address to, uint256 amount) private {
        cheats.deal(PAYER, amount);
        cheats.prank(PAYER);
        (bool taken,) = to.call{value: amount}("");
        truth(taken, "the transfer was refused");
    }
}
